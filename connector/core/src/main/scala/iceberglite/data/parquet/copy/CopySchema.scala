package iceberglite.data.parquet.copy

import scala.collection.JavaConverters._

import org.apache.parquet.schema.Type.Repetition.{OPTIONAL, REQUIRED}
import org.apache.parquet.schema.{GroupType, MessageType, Type, Types}

import iceberglite.spec.schema.MetadataColumns

/** Determines the schema of a Parquet file that consists of column chunks copied from other files. */
private[copy] object CopySchema {
  private val lineage = Set(MetadataColumns.RowId.id, MetadataColumns.LastUpdatedSequenceNumber.id)

  def isLineage(field: Type): Boolean = Option(field.getId).exists(id => lineage(id.intValue))

  /**
   * Returns the schema of the new files; absent if the columns of an old file differ from those of the table. Three
   * differences are permitted: A column or nested field may be required in an old file and optional in the table,
   * primitive columns may be required in some old files and optional in others, and the row lineage columns may be
   * missing in old files.
   *
   * A column that is required in all old files remains required in the new files, because its pages contain no
   * definition levels.
   *
   * @param table the Parquet schema with which rows of the table are written
   */
  def of(table: MessageType, files: Seq[MessageType]): Option[MessageType] = {
    val (lineageFields, dataFields) = table.getFields.asScala.toVector.partition(isLineage)
    val columns = files.map(_.getFields.asScala.toVector.filterNot(isLineage)).distinct
    if (columns.exists(_.size != dataFields.size)) None
    else {
      val merged = dataFields.indices.toVector.map(i => fieldOf(dataFields(i), columns.map(_(i)).distinct))
      val isComplete = merged.forall(_.isDefined) && files.forall(lineageMatches(_, lineageFields))
      if (isComplete) Some(new MessageType(table.getName, (merged.flatten ++ lineageFields).asJava)) else None
    }
  }

  private def lineageMatches(file: MessageType, lineageFields: Vector[Type]): Boolean =
    file.getFields.asScala.filter(isLineage).forall(lineageFields.contains)

  private def fieldOf(table: Type, files: Seq[Type]): Option[Type] =
    if (!files.forall(file => table == widened(file, table))) None
    else if (files.size == 1) files.headOption
    else if (table.isPrimitive) Some(table)
    else None

  /**
   * Returns a field of a file, in which all fields that are required in the file, but optional in the table, are made
   * optional.
   */
  private def widened(file: Type, table: Type): Type = {
    val isWidened = file.isRepetition(REQUIRED) && table.isRepetition(OPTIONAL)
    val repetition = if (isWidened) OPTIONAL else file.getRepetition
    (file, table) match {
      case (f: GroupType, t: GroupType) if f.getFieldCount == t.getFieldCount =>
        val fields = f.getFields.asScala.toVector.zip(t.getFields.asScala).map { case (a, b) => widened(a, b) }
        val group = Types.buildGroup(repetition).addFields(fields: _*)
        val typed = Option(f.getLogicalTypeAnnotation).fold(group)(group.as(_))
        Option(f.getId).fold(typed)(id => typed.id(id.intValue)).named(f.getName)
      case (f, _) if isWidened && f.isPrimitive =>
        val p = f.asPrimitiveType
        val plain = Types.primitive(p.getPrimitiveTypeName, OPTIONAL)
          .length(p.getTypeLength).columnOrder(p.columnOrder)
        val typed = Option(p.getLogicalTypeAnnotation).fold(plain)(plain.as(_))
        Option(p.getId).fold(typed)(id => typed.id(id.intValue)).named(p.getName)
      case _ => file
    }
  }

  /** Returns the part of a schema that contains a single column. */
  def single(schema: MessageType, path: Seq[String]): MessageType =
    new MessageType(schema.getName, only(schema, path))

  private def only(group: GroupType, path: Seq[String]): Type = group.getType(path.head) match {
    case inner: GroupType => inner.withNewFields(only(inner, path.tail))
    case leaf => leaf
  }
}
