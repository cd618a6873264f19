"""PyIceberg reads the types and the bounds of geometries."""

from __future__ import annotations

import struct

from pyiceberg.types import GeographyType, GeometryType
from pyiceberg_tables import newest
from pyspark.sql import SparkSession


def test_pyiceberg_reads_the_types_and_bounds_of_geometries(spark: SparkSession, table: str) -> None:
    # PyIceberg 0.12 cannot parse the types with other parameters as Apache Iceberg writes them: geometry(EPSG:3857).
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, g GEOMETRY, h GEOGRAPHY) USING iceberg "
        "TBLPROPERTIES ('format-version' = '3')"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, system.st_geomfromtext('LINESTRING (1 9, 3 4)'), system.st_point(5, 6))")
    read = newest(spark, table)
    assert read.schema().find_type("g") == GeometryType()
    assert read.schema().find_type("h") == GeographyType()
    (task,) = read.scan().plan_files()
    lower, upper = task.file.lower_bounds, task.file.upper_bounds
    assert struct.unpack("<2d", lower[2]) == (1, 4)
    assert struct.unpack("<2d", upper[2]) == (3, 9)
    assert struct.unpack("<2d", lower[3]) == struct.unpack("<2d", upper[3]) == (5, 6)
    # PyIceberg 0.12 reads the values only from columns with the logical types of Parquet.
    assert read.scan(selected_fields=("id",)).to_arrow().to_pylist() == [{"id": 1}]
