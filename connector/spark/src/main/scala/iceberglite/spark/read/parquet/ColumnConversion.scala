package iceberglite.spark.read.parquet

import java.util.{ArrayList, List => JavaList}

import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT64
import org.apache.parquet.schema.{MessageType, PrimitiveType => ParquetPrimitive, Type => ParquetType, Types}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.{DataType, LongType, StructType}
import org.apache.spark.sql.vectorized.ColumnVector

/** How a column that Spark's reader returns is converted to a column of the table. */
sealed private[read] trait ColumnConversion

private[read] object ColumnConversion {

  /** Uses the vector as the column. */
  case object AsIs extends ColumnConversion

  /** Converts each value. */
  final case class Converted(convert: ColumnVector => ColumnVector) extends ColumnConversion

  final case class StructOf(children: Vector[Source], dataType: StructType) extends ColumnConversion
  final case class ListOf(element: ColumnConversion, dataType: DataType) extends ColumnConversion
  final case class MapOf(key: ColumnConversion, value: ColumnConversion, dataType: DataType) extends ColumnConversion
}

/** The source of a column of the table, or of a field of a struct. */
sealed private[read] trait Source

private[read] object Source {

  /** A column of the file, by its index among the columns that are read. */
  final case class FromFile(ordinal: Int, conversion: ColumnConversion) extends Source

  /** One value for all rows. */
  final case class Constant(vector: ColumnVector) extends Source

  /** The row's position in the file. */
  case object Position extends Source

  /**
   * The row id: the value in the file or, if that value is null or missing, the sum of the file's first row id and the
   * row's position (spec, version 3: "Row Lineage").
   *
   * @param inFile index of the stored row id among the columns that are read; absent if the file does not store row ids
   */
  final case class RowId(inFile: Option[Int], firstRowId: Long) extends Source

  /**
   * The sequence number of the row's last update: the value in the file or, if the value is null, the file's data
   * sequence number.
   *
   * @param inFile index of the column among the columns that are read
   */
  final case class LastUpdated(inFile: Int, sequenceNumber: Long) extends Source
}

/**
 * A column that a filter may use: a primitive column of the file that is not inside a list or map.
 *
 * @param path the path of names in the file
 */
final private[read] case class FilterColumn(path: Vector[String], parquetType: ParquetPrimitive)

/**
 * The columns to read from one file, and their conversion to the columns of the scan.
 *
 * @param requested a part of the file's schema, with its names and types
 * @param readSchema the Spark types of the columns in `requested`, with the same names
 * @param columns the sources of the columns of the scan, in order
 * @param filterable the columns that a filter may use, by field id
 */
final private[read] case class FileProjection(
    requested: MessageType,
    readSchema: StructType,
    columns: Vector[Source],
    filterable: Map[Int, FilterColumn]
) {

  /** Whether the positions of rows in the file are needed. */
  def needsPosition: Boolean = columns.exists {
    case Source.Position | _: Source.RowId => true
    case _: Source.FromFile | _: Source.Constant | _: Source.LastUpdated => false
  }

  /** Returns this projection with one more column at the end, in which Spark's reader returns the positions of rows. */
  def withPositions: FileProjection = copy(
    requested = new MessageType(requested.getName, FileProjection.withRowIndex(requested)),
    readSchema = readSchema.add(FileProjection.RowIndexName, LongType)
  )
}

private object FileProjection {

  /**
   * The name of the column in which Spark's reader returns the positions of rows. The positions are correct even if
   * pages are skipped.
   */
  private val RowIndexName: String = ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME

  private def withRowIndex(to: MessageType): JavaList[ParquetType] = {
    val fields = new ArrayList[ParquetType](to.getFields)
    fields.add(Types.optional(INT64).named(RowIndexName))
    fields
  }
}
