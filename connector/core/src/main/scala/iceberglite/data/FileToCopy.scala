package iceberglite.data

/**
 * A data file whose rows are all copied to a new file, in the same order.
 *
 * @param lineage the values that the rows inherit from the metadata of the file; absent if the rows have no row ids
 */
final case class FileToCopy(path: String, lineage: Option[InheritedLineage])

/**
 * The metadata of a data file from which rows inherit the row id and the last updated sequence number if the file does
 * not store these values (spec, version 3: "Row Lineage").
 *
 * @param firstRowId the row id of the first row of the file
 * @param sequenceNumber the data sequence number of the file
 */
final case class InheritedLineage(firstRowId: Long, sequenceNumber: Long)
