"""Reports about the state of a table: a page, plots, and short summaries for notebooks."""
