package iceberglite.spec.property

import iceberglite.spec.IcebergError.InvalidArgument

/** The compression codec of Parquet files, in `write.parquet.compression-codec`. */
sealed abstract class ParquetCompression private (name: String, aliases: String*)
    extends NamedValue(name, aliases: _*)

object ParquetCompression {
  case object Uncompressed extends ParquetCompression("uncompressed", "none")
  case object Snappy extends ParquetCompression("snappy")
  case object Gzip extends ParquetCompression("gzip")
  case object Lzo extends ParquetCompression("lzo")
  case object Brotli extends ParquetCompression("brotli")
  case object Lz4 extends ParquetCompression("lz4")
  case object Lz4Raw extends ParquetCompression("lz4_raw")
  case object Zstd extends ParquetCompression("zstd")
  val all: Seq[ParquetCompression] = Seq(Uncompressed, Snappy, Gzip, Lzo, Brotli, Lz4, Lz4Raw, Zstd)
}

/** The compression codec of ORC files, in `write.orc.compression-codec`. */
sealed abstract class OrcCompression private (name: String) extends NamedValue(name)

object OrcCompression {
  case object Uncompressed extends OrcCompression("none")
  case object Zlib extends OrcCompression("zlib")
  case object Snappy extends OrcCompression("snappy")
  case object Lzo extends OrcCompression("lzo")
  case object Lz4 extends OrcCompression("lz4")
  case object Zstd extends OrcCompression("zstd")
  val all: Seq[OrcCompression] = Seq(Uncompressed, Zlib, Snappy, Lzo, Lz4, Zstd)
}

/** Whether the compression of ORC files is optimized for fast writes or for small files. */
sealed abstract class OrcStrategy private (name: String) extends NamedValue(name)

object OrcStrategy {
  case object Speed extends OrcStrategy("speed")
  case object Compression extends OrcStrategy("compression")
  val all: Seq[OrcStrategy] = Seq(Speed, Compression)
}

/** The compression codec of Avro files: data files, delete files, manifests and manifest lists. */
sealed abstract class AvroCompression private (name: String) extends NamedValue(name)

object AvroCompression {
  case object Uncompressed extends AvroCompression("uncompressed")
  case object Snappy extends AvroCompression("snappy")

  /** The codec `deflate` of Avro, which table properties call gzip. */
  case object Gzip extends AvroCompression("gzip")
  case object Zstd extends AvroCompression("zstd")
  val all: Seq[AvroCompression] = Seq(Uncompressed, Snappy, Gzip, Zstd)
}

/**
 * The compression codec of metadata files, in `write.metadata.compression-codec`.
 *
 * @param infix the part of a file name that states the codec
 */
sealed abstract class MetadataCompression private (name: String, private[iceberglite] val infix: String)
    extends NamedValue(name)

object MetadataCompression {
  case object Uncompressed extends MetadataCompression("none", "")
  case object Gzip extends MetadataCompression("gzip", ".gz")
  val all: Seq[MetadataCompression] = Seq(Uncompressed, Gzip)

  /** Parses the codec of a view's metadata files. @throws InvalidArgument if no codec has the name */
  def of(name: String): MetadataCompression =
    NamedValue.parse(all, name).getOrElse(throw InvalidArgument("metadata codec", name, NamedValue.expected(all)))
}
