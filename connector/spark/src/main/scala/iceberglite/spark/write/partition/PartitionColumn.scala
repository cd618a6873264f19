package iceberglite.spark.write.partition

import org.apache.spark.sql.catalyst.InternalRow

import iceberglite.spec.types.Literal

/**
 * Finds a column in a row.
 *
 * @param path the ordinals of the enclosing structs, and of the column
 * @param sizes the number of fields of each struct
 * @param constants for each part of the path, a row with its value if the rows lack it; otherwise null
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

/** A field of a partition spec, which computes its value from rows. The partition value of null is null (spec). */
sealed abstract private[write] class PartitionColumn {

  /** Puts the value of a row into a key. */
  def read(row: InternalRow, key: PartitionKey, i: Int): Unit

  /** Returns the value in a key, for the partition tuple. */
  final def literal(key: PartitionKey, i: Int): Option[Literal] = if (key.isNull(i)) None else Some(value(key, i))

  protected def value(key: PartitionKey, i: Int): Literal
}

private[write] object PartitionColumn {

  /** Computes a number from a row. Function types of Scala would box it. */
  trait NumberOf {
    def apply(row: InternalRow, ordinal: Int): Long
  }

  trait ObjectOf {

    /** Computes the value. @return null if there is no value */
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

  /** A field that was dropped from a version 1 table, or whose column the write lacks. */
  object AlwaysNull extends PartitionColumn {
    override def read(row: InternalRow, key: PartitionKey, i: Int): Unit = key.setNull(i)

    override protected def value(key: PartitionKey, i: Int): Literal =
      throw new IllegalStateException("A partition value that is always null was requested")
  }
}
