package iceberglite.spec.metadata

/**
 * A blob of a Puffin file, as its footer describes it (Puffin specification).
 *
 * @param offset the position of the first byte in the file
 * @param length the number of bytes that the file stores, possibly compressed
 * @param compressionCodec the codec's name; absent if the blob is not compressed
 */
final case class PuffinBlob(
    metadata: BlobMetadata,
    offset: Long,
    length: Long,
    compressionCodec: Option[String] = None
)

/** The footer of a Puffin file: its blobs in order, and properties of the file. */
final case class PuffinFooter(blobs: Vector[PuffinBlob], properties: Map[String, String])

object PuffinFooter {

  /** The property that names the program that wrote the file. */
  val CreatedBy = "created-by"
}

/** The supported types of blobs; a Puffin file may contain others. */
object BlobType {

  /** The deleted positions of one data file. */
  val DeletionVector = "deletion-vector-v1"

  /** A theta sketch of a column's values. */
  val ThetaSketch = "apache-datasketches-theta-v1"
}

/** Keys of blob properties. */
object BlobProperty {
  val ReferencedDataFile = "referenced-data-file"
  val Cardinality = "cardinality"

  /** The number of distinct values that a sketch estimates. */
  val Ndv = "ndv"
}
