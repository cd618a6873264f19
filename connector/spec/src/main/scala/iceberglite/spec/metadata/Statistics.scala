package iceberglite.spec.metadata

/** The metadata of a blob in a Puffin statistics file (spec: "Table Statistics"). */
final case class BlobMetadata(
    blobType: String,
    snapshotId: Long,
    sequenceNumber: Long,
    fields: Vector[Int],
    properties: Map[String, String]
)

/** A Puffin file with statistics of one snapshot. */
final case class StatisticsFile(
    snapshotId: Long,
    statisticsPath: String,
    fileSizeInBytes: Long,
    fileFooterSizeInBytes: Long,
    keyMetadata: Option[String],
    blobMetadata: Vector[BlobMetadata]
)

/** A file with a row for each partition of one snapshot (spec: "Partition Statistics"). */
final case class PartitionStatisticsFile(snapshotId: Long, statisticsPath: String, fileSizeInBytes: Long)

/** A key that is used to encrypt files of the table (spec, version 3). */
final case class EncryptionKey(
    keyId: String,
    encryptedKeyMetadata: String,
    encryptedById: Option[String],
    properties: Map[String, String]
)
