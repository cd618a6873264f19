package iceberglite.spec.metadata

/**
 * The description of a blob in the footer of a Puffin file (see the Puffin specification).
 *
 * @param offset the position of the first byte in the file
 * @param length the number of bytes of the blob in the file, after compression
 * @param compressionCodec the codec's name; absent if the blob is not compressed
 */
final case class PuffinBlob(
    metadata: BlobMetadata,
    offset: Long,
    length: Long,
    compressionCodec: Option[String] = None
)

/**
 * The footer of a Puffin file.
 *
 * @param blobs the blobs in the order of the file
 * @param properties the file properties
 */
final case class PuffinFooter(blobs: Vector[PuffinBlob], properties: Map[String, String])

object PuffinFooter {

  /** The property that names the program that wrote the file. */
  val CreatedBy = "created-by"
}

/** The supported types of blobs. A Puffin file may also contain blobs of other types. */
object BlobType {

  /** The deleted positions of one data file. */
  val DeletionVector = "deletion-vector-v1"

  /** A theta sketch of a column's values. */
  val ThetaSketch = "apache-datasketches-theta-v1"

  /** The Bloom filters of a column in many data files. The specification does not define this type. */
  val BloomIndex = "iceberg-lite-bloom-index-v1"
}

/** The keys of blob properties. */
object BlobProperty {
  val ReferencedDataFile = "referenced-data-file"
  val Cardinality = "cardinality"

  /** The number of distinct values that a sketch estimates. */
  val Ndv = "ndv"

  /** The number of data files that a Bloom index describes. */
  val Files = "files"

  /** The canonical form of the values whose hashes are in a Bloom index. */
  val ValueForm = "value-form"

  /** Identifies the name mapping with which the data files of a Bloom index were read. */
  val NameMapping = "name-mapping"

  /** Present if a Bloom index lacks filters, because the data files were not read. */
  val Partial = "partial"

  /** The maximum size of a filter of a Bloom index, in bytes. */
  val MaxFilterBytes = "max-filter-bytes"
}
