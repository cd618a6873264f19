package iceberglite.spec

import iceberglite.spec.expr.Expression

/**
 * A part of a data file to read, with all that a reader elsewhere needs (spec: "File Scan Task Serialization").
 *
 * @param deleteFiles whose deletes apply to the data file
 * @param residual what its rows must still be tested for
 * @param start where the part begins in the file, in bytes
 * @param length how long it is, in bytes
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
