//! pandas, polars and `DuckDB` read what a job leaves, and agree.
