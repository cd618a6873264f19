package iceberglite.spec.file

import iceberglite.spec.expr.Expression
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.schema.Schema

/**
 * A split of a data file to read, with all information that a reader in another process needs (spec: "File Scan Task
 * Serialization").
 *
 * @param deleteFiles the delete files that apply to the data file
 * @param residual the filter that must still be applied to the rows of the data file
 * @param start the position of the split in the file, in bytes
 * @param length the length of the split, in bytes
 */
final case class ScanTask(
    schema: Schema,
    spec: PartitionSpec,
    dataFile: ContentFile,
    deleteFiles: Vector[ContentFile],
    residual: Expression,
    start: Long,
    length: Long
)
