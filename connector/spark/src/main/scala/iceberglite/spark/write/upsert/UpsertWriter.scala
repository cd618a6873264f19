package iceberglite.spark.write.upsert

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  Cast,
  Expression,
  GetStructField,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.{DataWriter, DataWriterFactory, WriterCommitMessage}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spark.write.{TaskResult, TaskWriter, TaskWriterFactory, WrittenFiles}
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.file.ContentFile

/**
 * Creates the writers of an upsert's tasks on the executors.
 *
 * @param rowWriters creates the writers of data files
 * @param deleteWriters creates the writers of equality delete files
 * @param schema the schema of the rows
 * @param keyColumns the columns that identify rows
 */
final private[upsert] class UpsertWriterFactory(
    rowWriters: TaskWriterFactory,
    deleteWriters: TaskWriterFactory,
    schema: StructType,
    keyColumns: Vector[UpsertKeyColumn],
    deleteColumnIndex: Option[Int],
    table: String
) extends DataWriterFactory {

  override def createWriter(partitionId: Int, taskId: Long): DataWriter[InternalRow] = new UpsertWriter(
    rowWriters.createWriter(partitionId, taskId),
    deleteWriters.createWriter(partitionId, taskId),
    new SortedKeyCheck(schema, keyColumns, table),
    deleteColumnIndex.getOrElse(-1)
  )
}

/**
 * Writes the rows of one task to data files, and their keys to equality delete files, which delete the existing rows.
 * The files of a failed task are removed.
 *
 * @param deleteColumnIndex the index of the column that marks rows to delete instead of upserting them; -1 if there is
 *   no such column
 */
final private[upsert] class UpsertWriter(
    rowWriter: TaskWriter,
    deleteWriter: TaskWriter,
    keyCheck: SortedKeyCheck,
    deleteColumnIndex: Int
) extends DataWriter[InternalRow] {

  override def write(row: InternalRow): Unit = {
    keyCheck.checkNext(row)
    deleteWriter.write(row)
    if (deleteColumnIndex < 0 || row.isNullAt(deleteColumnIndex) || !row.getBoolean(deleteColumnIndex)) {
      rowWriter.write(row)
    }
  }

  override def commit(): WriterCommitMessage =
    new WrittenUpsert(filesOf(rowWriter.commit()), filesOf(deleteWriter.commit()))

  private def filesOf(message: WriterCommitMessage): Array[ContentFile] = message match {
    case written: WrittenFiles => written.files
    case other => throw new IllegalStateException(s"Unexpected result of a task writer: $other")
  }

  override def abort(): Unit =
    try rowWriter.abort()
    finally deleteWriter.abort()

  override def close(): Unit =
    try rowWriter.close()
    finally deleteWriter.close()

  override def currentMetricsValues: Array[CustomTaskMetric] = rowWriter.currentMetricsValues
}

/** The result that a task of an upsert sends to the driver. */
final private[upsert] class WrittenUpsert(val rows: Array[ContentFile], val deletes: Array[ContentFile])
    extends TaskResult {
  override def paths: Vector[String] = (rows ++ deletes).iterator.map(_.path).toVector
}

/** Checks the keys of rows that are sorted by key. No two rows may have the same key. */
final private[upsert] class SortedKeyCheck(schema: StructType, keys: Vector[UpsertKeyColumn], table: String) {
  private val columns: Vector[Expression] = keys.map { key =>
    val topColumn = schema(key.ordinals.head)
    val column: Expression = BoundReference(key.ordinals.head, topColumn.dataType, topColumn.nullable)
    key.ordinals.tail.foldLeft(column)(GetStructField(_, _))
  }
  private val keyOf = UnsafeProjection.create(columns)
  private val checkedKeys: Array[Int] = keys.indices.filter(keys(_).textForm.isDefined).toArray
  private var previous: UnsafeRow = _

  /**
   * Checks the key of the next row.
   *
   * @throws ValidationFailed if the previous row has the same key, or a text in the key does not have the form that its
   *   column requires
   */
  def checkNext(row: InternalRow): Unit = {
    val key = keyOf(row)
    checkedKeys.foreach(requireForm(key, _))
    if (previous != null && previous == key) throw ValidationFailed(
      s"Cannot upsert into $table: two of the rows have the key ${describe(row)}, and it is unclear which row is " +
        "newer. Remove one of the two rows"
    )
    if (previous == null) previous = key.copy() else previous.copyFrom(key)
  }

  private def requireForm(key: UnsafeRow, ordinal: Int): Unit = if (!key.isNullAt(ordinal)) {
    val text = key.getUTF8String(ordinal)
    keys(ordinal).textForm.filterNot(_.fits(text)).foreach { form =>
      throw ValidationFailed(
        s"Cannot upsert into $table by ${keys(ordinal).name} = '$text', which would not match the same value in the " +
          "table: " +
          form.remedy(keys(ordinal).name)
      )
    }
  }

  private def describe(row: InternalRow): String = keys.map(_.name).zip(columns).map { case (name, column) =>
    s"$name = ${Option(Cast(column, StringType, Some("UTC")).eval(row)).fold("null")(_.toString)}"
  }.mkString(", ")
}

/**
 * A column of the key.
 *
 * @param name the name of the column, for messages
 * @param ordinals the ordinals of the enclosing structs in the rows, outermost first, and of the column
 * @param textForm the form that the column's values must have; absent if a value has only one text form
 */
final private[upsert] case class UpsertKeyColumn(name: String, ordinals: Vector[Int], textForm: Option[KeyTextForm])

/**
 * The required form of key values that can be written as several texts. A form is required because equality deletes
 * compare the texts.
 */
sealed private[upsert] trait KeyTextForm {
  def fits(text: UTF8String): Boolean
  def remedy(column: String): String
}

private[upsert] object KeyTextForm {
  case object LowerCase extends KeyTextForm {
    override def fits(text: UTF8String): Boolean = text.toLowerCase == text
    override def remedy(column: String): String = s"write UUIDs in lower case, as lower($column)"
  }

  /**
   * The form of CHAR values, which are padded with spaces to a fixed length. Spark itself pads the values, except for
   * tables that accept any schema.
   */
  final case class Padded(length: Int) extends KeyTextForm {
    override def fits(text: UTF8String): Boolean = text.numChars >= length
    override def remedy(column: String): String = s"the column is a CHAR($length); write rpad($column, $length, ' ')"
  }
}
