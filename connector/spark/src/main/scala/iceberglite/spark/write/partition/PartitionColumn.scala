package iceberglite.spark.write.partition

import org.apache.spark.sql.catalyst.InternalRow

import iceberglite.spec.types.Literal

/**
 * Finds the value of a column in a row.
 *
 * @param path the ordinals of the enclosing structs, and of the column
 * @param sizes the number of fields of each enclosing struct
 * @param constants for each part of the path, a row with the constant value if the rows lack this part; otherwise null
 */
final private[write] case class ColumnAccess(path: Array[Int], sizes: Array[Int], constants: Array[InternalRow]) {
  val ordinal: Int = path.last
  private val depth = sizes.length

  /** Returns the row or struct that contains the column; null if an enclosing struct is null. */
  def parentRow(row: InternalRow): InternalRow = {
    var struct = if (constants(0) == null) row else constants(0)
    var i = 0
    while (i < depth && struct != null) {
      struct = if (struct.isNullAt(path(i))) null else struct.getStruct(path(i), sizes(i))
      i += 1
      if (struct != null && constants(i) != null) struct = constants(i)
    }
    struct
  }
}

/**
 * Computes the value of one partition field from rows. If the source value is null, the partition value is null (spec:
 * "Partition Transforms").
 */
sealed abstract private[write] class PartitionColumn {

  /** Computes the partition value of a row, and puts it into a key at index `i`. */
  def read(row: InternalRow, key: PartitionKey, i: Int): Unit

  /** Returns the value at index `i` of a key, for the partition tuple. */
  final def literal(key: PartitionKey, i: Int): Option[Literal] = if (key.isNull(i)) None else Some(value(key, i))

  protected def value(key: PartitionKey, i: Int): Literal
}

private[write] object PartitionColumn {

  /** Computes a number from a row. Scala's function types would box the number. */
  trait NumberOf {
    def apply(row: InternalRow, ordinal: Int): Long
  }

  /** Computes a value other than a number from a row. */
  trait ObjectOf {

    /** Returns the value, which may be null. */
    def apply(row: InternalRow, ordinal: Int): AnyRef
  }

  final class Numbers(access: ColumnAccess, numberOf: NumberOf, literalOf: Long => Literal) extends PartitionColumn {
    override def read(row: InternalRow, key: PartitionKey, i: Int): Unit = {
      val parentRow = access.parentRow(row)
      if (parentRow == null || parentRow.isNullAt(access.ordinal)) key.setNull(i)
      else key.setNumber(i, numberOf(parentRow, access.ordinal))
    }

    override protected def value(key: PartitionKey, i: Int): Literal = literalOf(key.number(i))
  }

  final class Objects(access: ColumnAccess, objectOf: ObjectOf, literalOf: AnyRef => Literal) extends PartitionColumn {
    override def read(row: InternalRow, key: PartitionKey, i: Int): Unit = {
      val parentRow = access.parentRow(row)
      val newValue =
        if (parentRow == null || parentRow.isNullAt(access.ordinal)) null else objectOf(parentRow, access.ordinal)
      if (newValue == null) key.setNull(i) else key.setObject(i, newValue)
    }

    override protected def value(key: PartitionKey, i: Int): Literal = literalOf(key.objectAt(i))
  }

  /**
   * A partition field whose value is always null. The field was dropped from a version 1 table, or the write has no
   * values for its source column.
   */
  object AlwaysNull extends PartitionColumn {
    override def read(row: InternalRow, key: PartitionKey, i: Int): Unit = key.setNull(i)

    override protected def value(key: PartitionKey, i: Int): Literal =
      throw new IllegalStateException("A partition value that is always null was requested")
  }
}
