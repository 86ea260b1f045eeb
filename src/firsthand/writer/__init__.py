"""Talk to observations: writers propose, admission decides."""
