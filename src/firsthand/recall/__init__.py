"""From a question to what memory holds that answers it, scored and explained, and to the block a model is given."""
