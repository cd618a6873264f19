package iceberglite.avro

/**
 * A decoded record that represents a struct. The object has a slot for each column of the struct, and stores numbers
 * unboxed. It is reused for the next record, so callers must not retain it.
 *
 * @param size the number of columns; at most 64
 */
final private[iceberglite] class AvroRow(size: Int) {
  private val numbers = new Array[Long](size)
  private val objects = new Array[AnyRef](size)
  private var present = 0L

  def clear(): Unit = present = 0L

  def setNumber(slot: Int, value: Long): Unit = {
    numbers(slot) = value
    present |= 1L << slot
  }

  def setObject(slot: Int, value: AnyRef): Unit = {
    objects(slot) = value
    present |= 1L << slot
  }

  def has(column: StructColumn[_, _]): Boolean = (present & (1L << column.slot)) != 0

  def long(column: StructColumn[_, Long]): Long = {
    requirePresent(column)
    numbers(column.slot)
  }

  def int(column: StructColumn[_, Int]): Int = {
    requirePresent(column)
    numbers(column.slot).toInt
  }

  /** Returns the value of a column of any numeric type; 0 if the column is absent. */
  def number(column: StructColumn[_, _]): Long = if (has(column)) numbers(column.slot) else 0L

  def boolean(column: StructColumn[_, Boolean]): Boolean = {
    requirePresent(column)
    numbers(column.slot) != 0
  }

  /**
   * Returns the value of a column of numbers as an option. If the last record for which this method was called had the
   * same value, the result is the same object, because consecutive records often have equal values.
   */
  def longOption(column: StructColumn[_, Long]): Option[Long] =
    if (!has(column)) None
    else objects(column.slot) match {
      case previous @ Some(number: Long) if number == numbers(column.slot) => previous.asInstanceOf[Option[Long]]
      case _ =>
        val current = Some(numbers(column.slot))
        objects(column.slot) = current
        current
    }

  def intOption(column: StructColumn[_, Int]): Option[Int] =
    if (!has(column)) None
    else objects(column.slot) match {
      case previous @ Some(number: Int) if number == numbers(column.slot).toInt => previous.asInstanceOf[Option[Int]]
      case _ =>
        val current = Some(numbers(column.slot).toInt)
        objects(column.slot) = current
        current
    }

  /** Returns the object that the slot contained for an earlier record, so that the decoder can reuse this object. */
  def previousObject(slot: Int): Option[AnyRef] = Option(objects(slot))

  /**
   * Returns the value of a column. The cast is safe, because only the decoder of the column's type stores objects in
   * the slot.
   */
  def value[V <: AnyRef](column: StructColumn[_, V]): V = {
    requirePresent(column)
    objects(column.slot).asInstanceOf[V]
  }

  def option[V <: AnyRef](column: StructColumn[_, V]): Option[V] = if (has(column)) Some(value(column)) else None

  def valueOr[V <: AnyRef](column: StructColumn[_, V], absent: V): V = if (has(column)) value(column) else absent

  /** Returns the row of a nested struct. */
  def struct(column: StructColumn[_, _]): AvroRow = {
    requirePresent(column)
    objects(column.slot).asInstanceOf[AvroRow]
  }

  /** Returns the start and the end of a skipped value in the Avro block, as `start << 32 | end`. */
  def range(column: StructColumn[_, _]): Long = numbers(column.slot)

  /** Returns the decoder for a skipped value; [[range]] returns the positions of the value. */
  def decoderOfSkipped(column: StructColumn[_, _]): AnyRef = {
    requirePresent(column)
    objects(column.slot)
  }

  def setSkipped(slot: Int, start: Int, end: Int, decoder: AnyRef): Unit = {
    setObject(slot, decoder)
    numbers(slot) = start.toLong << 32 | end
  }

  /** Returns the row into which a nested struct is decoded. The row of the previous record is reused. */
  def nested(slot: Int, size: Int): AvroRow = {
    val row = objects(slot) match {
      case previous: AvroRow => previous
      case _ => new AvroRow(size)
    }
    setObject(slot, row)
    row
  }

  private def requirePresent(column: StructColumn[_, _]): Unit =
    if (!has(column)) throw AvroFault(s"A record has no ${column.name} (field ${column.id}), which is required")
}
