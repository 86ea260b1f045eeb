"""Pure folds: what is believed, given what was observed and a policy. No clock, no chance, no input or output.

`slots` says where an observation belongs, `fold` folds the rows of a slot into cells, `view` reads beliefs from cells
as of a time, `digest` compares. The rules themselves are in `rules`, `timeline` and `replay`.
"""
