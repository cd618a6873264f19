package iceberglite.spark.write

import org.scalatest.Suite

import iceberglite.spark.SharedSession

/** Columns and rows for tests of metrics, with NaN, zeros, nulls, long strings and nested values. */
trait MetricsFixture extends SharedSession { self: Suite =>
  protected val columns =
    """id bigint, f float, d double, nan double, s string, b binary, dec decimal(9,2), big decimal(30,4), day date,
      |at timestamp, ntz timestamp_ntz, flag boolean, nothing int, st struct<x: double, y: string, z: struct<w: float>>,
      |l array<double>, m map<string, float>""".stripMargin

  protected val values =
    """SELECT id,
      |  CAST(CASE WHEN id % 7 = 0 THEN 'NaN' WHEN id % 5 = 0 THEN '-0.0' ELSE id - 50 END AS float),
      |  CAST(CASE WHEN id % 11 = 0 THEN '-Infinity' WHEN id % 3 = 0 THEN 'NaN' ELSE id / 3 END AS double),
      |  CAST('NaN' AS double),
      |  CASE WHEN id = 99 THEN repeat('\\uD83E\\uDDCA', 40) WHEN id % 9 = 0 THEN NULL
      |  ELSE repeat(CHAR(97 + id % 20), 30) END,
      |  CASE WHEN id = 0 THEN unhex(repeat('FF', 30)) ELSE unhex(lpad(CAST(id AS string), 40, '0')) END,
      |  CAST(id - 20.25 AS decimal(9,2)), CAST(-id * 123456789012.5 AS decimal(30,4)),
      |  date_sub(DATE'1970-02-01', CAST(id AS int)), timestamp_micros(id * 1000003 - 5000000),
      |  TIMESTAMP_NTZ'1960-01-01 00:00:00.000001', id % 2 = 0, CAST(NULL AS int),
      |  CASE WHEN id % 4 = 0 THEN NULL ELSE named_struct('x', CAST(id AS double), 'y', CAST(id AS string),
      |    'z', named_struct('w', CAST(CASE WHEN id % 6 = 0 THEN 'NaN' ELSE id END AS float))) END,
      |  array(CAST(id AS double), CAST('NaN' AS double)), map('k', CAST(id AS float))
      |FROM range(0, 100, 1, 1)""".stripMargin

  /** Returns the metrics of the table's files in manifests, as Apache Iceberg reads them. */
  protected def metricsOf(table: String): Seq[String] = rows(
    s"""SELECT to_json(struct(record_count, value_counts, null_value_counts, nan_value_counts, map_keys(column_sizes),
       |lower_bounds, upper_bounds)) FROM ${inApacheIceberg(table)}.files""".stripMargin
  ).map(_.getString(0))
}
