package iceberglite.spark.read.parquet

import java.util.{ArrayList, List => JavaList}

import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT64
import org.apache.parquet.schema.{MessageType, PrimitiveType => ParquetPrimitive, Type => ParquetType, Types}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.{DataType, LongType, StructType}
import org.apache.spark.sql.vectorized.ColumnVector

/** What makes a column of the table of one that Spark's reader has read. */
sealed private[read] trait Reading

private[read] object Reading {

  /** The vector is the column. */
  case object AsIs extends Reading

  /** Each value is seen differently. */
  final case class Converted(by: ColumnVector => ColumnVector) extends Reading

  final case class StructOf(children: Vector[Source], dataType: StructType) extends Reading
  final case class ListOf(element: Reading, dataType: DataType) extends Reading
  final case class MapOf(key: Reading, value: Reading, dataType: DataType) extends Reading
}

/** Where a column of the table, or a field of a struct, comes from. */
sealed private[read] trait Source

private[read] object Source {

  /** The child at a place of what is read. */
  final case class FromFile(ordinal: Int, reading: Reading) extends Source

  /** One value for all rows. */
  final case class Constant(vector: ColumnVector) extends Source

  /** The row's place in the file. */
  case object Position extends Source

  /** The row's id: what the file says, else the file's first row id and the place (spec, version 3: "Row Lineage"). */
  final case class RowId(inFile: Option[Int], firstRowId: Long) extends Source

  /** What the file says, else the file's data sequence number. */
  final case class LastUpdated(inFile: Int, sequenceNumber: Long) extends Source
}

/**
 * A column that a filter may ask for: a primitive of the file outside lists and maps.
 *
 * @param path its names in the file
 */
final private[read] case class FileColumn(path: Vector[String], parquetType: ParquetPrimitive)

/**
 * What is read of one file, and what becomes of it.
 *
 * @param requested a part of the file's schema, in its names and types
 * @param readSchema how Spark is to read it, in the same names
 * @param columns the wanted columns in their order
 * @param filterable the columns that are read, by field id
 */
final private[read] case class FileProjection(
    requested: MessageType,
    readSchema: StructType,
    columns: Vector[Source],
    filterable: Map[Int, FileColumn]
) {

  /** Whether the rows' places in the file are needed. */
  def needsPosition: Boolean = columns.exists {
    case Source.Position | _: Source.RowId => true
    case _: Source.FromFile | _: Source.Constant | _: Source.LastUpdated => false
  }

  /** With the places last, from Spark's reader. */
  def withPositions: FileProjection = copy(
    requested = new MessageType(requested.getName, FileProjection.appended(requested)),
    readSchema = readSchema.add(FileProjection.RowIndexName, LongType)
  )
}

private object FileProjection {

  /** Spark's reader fills a column of this name with the places of the rows, right under page skipping too. */
  private val RowIndexName: String = ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME

  private def appended(to: MessageType): JavaList[ParquetType] = {
    val fields = new ArrayList[ParquetType](to.getFields)
    fields.add(Types.optional(INT64).named(RowIndexName))
    fields
  }
}
