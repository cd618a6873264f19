package iceberglite.data.parquet

import scala.util.Try

import org.scalacheck.Gen

import iceberglite.data.{FormatTests, RecordGenerators}
import iceberglite.parquet.ParquetSchemas
import iceberglite.spec.schema.Schema

class ParquetFormatSuite extends FormatTests(ParquetData) {

  /** Excludes schemas that Parquet cannot store, for example a struct without stored fields. */
  override protected def schemas: Gen[Schema] =
    RecordGenerators.schema().suchThat(s => Try(ParquetSchemas.of(s)).toOption.exists(_.getFieldCount > 0))
}
