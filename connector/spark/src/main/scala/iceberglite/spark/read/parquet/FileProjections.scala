package iceberglite.spark.read.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.column.Encoding
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.schema.{GroupType, MessageType, Type => ParquetType}

import iceberglite.data.VariantPath
import iceberglite.data.parquet.ParquetNameMapping
import iceberglite.data.parquet.shred.RowGroupParts
import iceberglite.spark.convert.VariantForm
import iceberglite.spark.read.files.{FileTask, FileValues}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.{MetadataColumns, NameMapping}
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.StructType

/**
 * Determines which columns of a data file a scan reads (spec: "Column Projection").
 *
 * @param expected columns of the table and metadata columns, in the order of the result
 * @param mapping the table's name mapping, for files without field ids
 * @param values provides the values of metadata columns and of columns that a file does not contain
 * @param tableName the name of the table, for messages
 * @param variants the form in which variants are read
 * @param parts the parts of variants to read, by field id; absent for columns whose variants are read completely
 */
final private[read] class FileProjections(
    expected: Vector[NestedField],
    mapping: => Option[NameMapping],
    values: FileValues,
    tableName: String,
    variants: VariantForm,
    parts: Map[Int, Set[VariantPath]] = Map.empty
) {

  /**
   * Returns the columns to read from one file.
   *
   * @param footer the footer of the file, with only the row groups to read
   * @throws UnreadableFile if a column of the file has the wrong type, or a required column without a default is
   *   missing
   */
  def of(footer: ParquetMetadata, task: FileTask): FileProjection = {
    val matching = new ColumnMatch(replacement(task), mismatch(task), invalidVariant(task), variants, partsIn(footer))
    val (metadata, stored) = expected.partition(f => values.isMetadata(f.id))
    val lineage = metadata.filter(f => isLineage(f.id) && task.firstRowId.isDefined)
    val matched = matching.struct(withIds(footer), stored ++ lineage, NodePath.Root)
    val sources = (stored ++ lineage).map(_.id).zip(matched.sources).toMap
    val columns = expected.map { f =>
      if (values.isMetadata(f.id)) metadataSource(f, task, sources.get(f.id)) else sources(f.id)
    }
    assemble(matched.children, columns)
  }

  /** Returns the footer with only the row groups that may have a matching row, according to the parts of variants. */
  def matching(footer: ParquetMetadata, task: FileTask): ParquetMetadata =
    RowGroupParts.matching(footer, withIds(footer), task.filter)

  private def withIds(footer: ParquetMetadata): MessageType = {
    val stored = expected.filterNot(f => values.isMetadata(f.id))
    ParquetNameMapping.withIds(footer.getFileMetaData.getSchema, mapping, StructType(stored))
  }

  private def partsIn(footer: ParquetMetadata): (Int, Vector[String]) => GroupType => GroupType = {
    val projection = VariantProjection.of(footer)
    (id, columns) => group => parts.get(id).fold(group)(projection.of(group, columns, _))
  }

  private def assemble(read: Vector[MatchedNode], columns: Vector[Source]): FileProjection = FileProjection(
    new MessageType("spark_schema", read.map(_.requested).asJava),
    UnrequestedNodes.structOf(read),
    columns,
    read.flatMap(_.columns).toMap
  )

  private def isLineage(id: Int): Boolean =
    id == MetadataColumns.RowId.id || id == MetadataColumns.LastUpdatedSequenceNumber.id

  private def metadataSource(field: NestedField, task: FileTask, inFile: Option[Source]): Source = {
    val stored = inFile.collect { case Source.FromFile(ordinal, _) => ordinal }
    (field.id, task.firstRowId) match {
      case (MetadataColumns.Position.id, _) => Source.Position
      case (MetadataColumns.RowId.id, Some(first)) => Source.RowId(stored, first)
      case (MetadataColumns.LastUpdatedSequenceNumber.id, Some(_)) if stored.isDefined =>
        Source.LastUpdated(stored.get, task.dataSequenceNumber)
      case _ => Source.Constant(values.metadata(field, task))
    }
  }

  private def replacement(task: FileTask)(field: NestedField, path: Vector[String]): Source =
    values.replacement(field, task) match {
      case Right(vector) => Source.Constant(vector)
      case Left(missing) => throw unreadable(
          task,
          s"The file has no column ${(path.init ++ missing).mkString(".")} (field id ${field.id}). The table " +
            "requires this column, and it has no default. If the file was imported and has no field ids, set the " +
            "table property " + TableProperty.NameMappingDefault.key
        )
    }

  private def mismatch(task: FileTask)(name: String, file: ParquetType, expected: Type): Throwable = unreadable(
    task,
    s"In the file, column $name is ${file.toString.replaceAll("\\s+", " ")}, but the table has $expected. " +
      "Rewrite the file with the table's type, or remove the column from the query"
  )

  private def invalidVariant(task: FileTask)(name: String, reason: String): Throwable = unreadable(
    task,
    s"A value of column $name is not a variant: $reason. Remove the column from the query, or restore the file"
  )

  /** Returns the error for an encoding that no reader can decode. @param column the name of the column in the file */
  def undecodable(task: FileTask)(column: String, encoding: Encoding): Throwable = unreadable(
    task,
    s"Column $column has values in the encoding $encoding, which is not supported. Rewrite the file with " +
      "another encoding, or remove the column from the query"
  )

  private def unreadable(task: FileTask, reason: String): UnreadableFile =
    UnreadableFile(task.path, s"data file of table $tableName", reason)
}
