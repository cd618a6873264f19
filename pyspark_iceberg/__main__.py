"""`python -m pyspark_iceberg` runs the command line."""

from pyspark_iceberg.cli import main

if __name__ == "__main__":
    main()
