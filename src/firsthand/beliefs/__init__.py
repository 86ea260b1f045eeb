"""Pure folds: what is believed, given what was observed and a policy. No clock, no chance, no input or output."""
