package iceberglite.spark.read

import org.apache.spark.sql.connector.read.InputPartition

import iceberglite.spec.PartitionTuple
import iceberglite.spec.expr.Expression

/**
 * A part of a data file to read: what an executor needs to know of it, and no more.
 *
 * @param start where the part begins in the file, in bytes
 * @param filter what is left of the scan's filter for the rows of this file; for skipping only
 * @param withoutNan the ids of the filter's columns that hold no NaN in this file
 * @param firstRowId version 3: the id of the file's first row
 */
final private[read] case class FileTask(
    path: String,
    start: Long,
    length: Long,
    specId: Int,
    partition: PartitionTuple,
    filter: Expression,
    withoutNan: Set[Int],
    firstRowId: Option[Long],
    dataSequenceNumber: Long
)

/** What one task of Spark reads. */
final private[read] case class IcebergInputPartition(tasks: Vector[FileTask]) extends InputPartition
