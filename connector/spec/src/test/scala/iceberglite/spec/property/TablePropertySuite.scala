package iceberglite.spec.property

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.FileFormat
import iceberglite.spec.property.TableProperty._

class TablePropertySuite extends AnyFunSuite {

  test("a property that is not set has its default") {
    assert(of(TargetFileSize, Map.empty) == 536870912L)
    assert(of(Version, Map.empty) == FormatVersion.V2)
    assert(of(WriteFormat, Map.empty) == FileFormat.Parquet)
    assert(of(MetricsDefault, Map.empty) == MetricsMode.Truncate(16))
    assert(of(Distribution, Map.empty).isEmpty)
    assert(of(MaxRefAge, Map.empty) == Long.MaxValue)
    assert(of(ManifestMerge, Map.empty))
  }

  test("values that are names are read in any case, outer spaces are ignored, and a path has no trailing slash") {
    assert(of(TargetFileSize, Map(TargetFileSize.key -> " 1024 ")) == 1024L)
    assert(of(WriteFormat, Map(WriteFormat.key -> "ORC")) == FileFormat.Orc)
    assert(of(Distribution, Map(Distribution.key -> "Range")).contains(DistributionMode.Range))
    assert(of(MetricsDefault, Map(MetricsDefault.key -> "full")) == MetricsMode.Full)
    assert(of(ParquetCodec, Map(ParquetCodec.key -> "ZSTD")) == ParquetCompression.Zstd)
    assert(of(OrcCodec, Map(OrcCodec.key -> " None ")) == OrcCompression.Uncompressed)
    assert(of(OrcCompressionStrategy, Map(OrcCompressionStrategy.key -> "COMPRESSION")) == OrcStrategy.Compression)
    assert(of(DataPath, Map(DataPath.key -> "s3://b/data/")).contains("s3://b/data"))
    assert(of(ParquetCompressionLevel, Map(ParquetCompressionLevel.key -> "3")).contains(3))
  }

  test("the error for an invalid value names the property and the expected values") {
    val wrong = Seq(
      TargetFileSize -> "0",
      TargetFileSize -> "512MB",
      Version -> "9",
      WriteFormat -> "puffin",
      Distribution -> "hashed",
      MetricsDefault -> "truncate(0)",
      Gc -> "yes",
      CommitRetries -> "-1",
      SplitLookback -> "99999999999",
      ParquetCodec -> "zip"
    )
    wrong.foreach { case (property, value) =>
      val error = intercept[InvalidArgument](check(Map(property.key -> value)))
      assert(error.name == s"table property ${property.key}")
      assert(error.value == value)
      assert(error.reason == property.expected)
    }
  }

  test("uncompressed and none are the same codec of Parquet files") {
    Seq("uncompressed", "none", "NONE").foreach { name =>
      assert(of(ParquetCodec, Map(ParquetCodec.key -> name)) == ParquetCompression.Uncompressed)
    }
  }

  test("each property with a fixed set of names accepts these names, lists them in messages, and has a default") {
    val parquet = "uncompressed, none, snappy, gzip, lzo, brotli, lz4, lz4_raw, zstd"
    Seq[(TableProperty[_ <: NamedValue], String, String)](
      (ParquetCodec, parquet, "gzip"),
      (OrcCodec, "none, zlib, snappy, lzo, lz4, zstd", "zlib"),
      (OrcCompressionStrategy, "speed, compression", "speed"),
      (AvroCodec, "uncompressed, snappy, gzip, zstd", "gzip"),
      (ManifestCodec, "uncompressed, snappy, gzip, zstd", "gzip"),
      (MetadataCodec, "none, gzip", "none"),
      (ParquetProperty.PageVersion, "v1, v2", "v1")
    ).foreach { case (property, names, default) =>
      assert(property.expected == s"It must be one of $names")
      names.split(", ").foreach(name => assert(property.read(name).names.contains(name)))
      assert(property.defaultText.contains(default) && property.default.name == default)
    }
  }

  test("metrics modes of columns are read and checked by full column name") {
    val properties = Map(MetricsColumnPrefix + "a.b" -> "counts")
    assert(metricsModeOf("a.b", properties).contains(MetricsMode.Counts))
    assert(metricsModeOf("a", properties).isEmpty)
    val error = intercept[InvalidArgument](check(Map(MetricsColumnPrefix + "a" -> "some")))
    assert(error.name == s"table property ${MetricsColumnPrefix}a")
  }

  test("per-column properties are read by full column name, and checked") {
    val properties = Map(
      "write.parquet.bloom-filter-enabled.column.a.b" -> "true",
      "write.parquet.bloom-filter-ndv.column.a.b" -> "100",
      "write.parquet.bloom-filter-fpp.column.c" -> "0.1",
      "write.parquet.stats-enabled.column.c" -> "FALSE"
    )
    check(properties)
    assert(ParquetProperty.BloomFilter.of(properties) == Map("a.b" -> true))
    assert(ParquetProperty.BloomFilterNdv.of(properties) == Map("a.b" -> Some(100L)))
    assert(ParquetProperty.BloomFilterFpp.of(properties) == Map("c" -> 0.1))
    assert(ParquetProperty.Statistics.of(properties) == Map("c" -> false))
    assert(ParquetProperty.Dictionary.of(properties).isEmpty)
    val wrong = Seq("bloom-filter-fpp" -> "2", "bloom-filter-ndv" -> "-1", "dict-encoding-enabled" -> "on")
    wrong.foreach { case (name, value) =>
      val key = s"write.parquet.$name.column.c"
      assert(intercept[InvalidArgument](check(Map(key -> value))).name == s"table property $key")
    }
    assert(ColumnPrefixes.distinct == ColumnPrefixes && ColumnPrefixes.forall(_.endsWith(".column.")))
  }

  test("unknown properties are ignored") {
    check(Map("write.of.somebody-else" -> "anything"))
  }

  test("every key is unique, and every default is an allowed value") {
    val keys = all.map(_.key)
    assert(keys.distinct == keys)
    all.foreach(p => p.defaultText.foreach(p.read))
    assert(all.forall(p => p.doc.nonEmpty && p.expected.nonEmpty))
  }
}
