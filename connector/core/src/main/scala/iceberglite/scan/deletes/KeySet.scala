package iceberglite.scan.deletes

import java.util.Arrays

import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type._

/** The keys of deleted rows in one or several equality delete files. Immutable once built, and thread-safe. */
sealed trait KeySet {
  def isEmpty: Boolean

  /** Returns the approximate heap size in bytes. */
  def bytes: Long

  def contains(key: KeyBuffer): Boolean
}

/** A set of keys in memory. It can be merged into another set. */
sealed private[scan] trait InMemoryKeys extends KeySet {

  /** Evaluates `f` once for each key. @param key a buffer that contains the current key whenever `f` is evaluated */
  def foreach(key: KeyBuffer)(f: => Unit): Unit
}

/** Keys of a single column of integers, dates, times or timestamps. */
final class LongKeys private[scan] (values: LongSet, val hasNull: Boolean) extends InMemoryKeys {
  override def isEmpty: Boolean = values.isEmpty && !hasNull
  override def bytes: Long = values.bytes
  override def contains(key: KeyBuffer): Boolean = if (key.isNull) hasNull else values.contains(key.long)

  /** Returns whether the set contains a value that is not null. */
  def contains(value: Long): Boolean = values.contains(value)

  override def foreach(key: KeyBuffer)(f: => Unit): Unit = {
    values.foreach { value =>
      key.clear()
      key.putLong(value)
      f
    }
    if (hasNull) {
      key.clear()
      key.putNull()
      f
    }
  }
}

private[scan] object LongKeys {

  /** Returns whether [[LongKeys]] can store the keys of these columns. */
  def canStore(columns: Vector[EqualityColumn]): Boolean = columns match {
    case Vector(only) => isStoredAsLong(only.field)
    case _ => false
  }

  private def isStoredAsLong(field: NestedField): Boolean = field.fieldType match {
    case IntType | LongType | DateType | TimeType | TimestampType | TimestampTzType | TimestampNsType |
        TimestampTzNsType =>
      true
    case _ => false
  }
}

/** A hash set of keys of any type. The keys are stored consecutively in one array. */
final private[scan] class BytesKeys extends InMemoryKeys {
  private var keys = new Array[Byte](1 << 10)
  private var used = 0
  private var starts = new Array[Int](16)
  private var hashes = new Array[Long](16)
  private var count = 0
  // The slots of the hash table. A slot contains the ordinal of a key, starting at 1, or 0 if the slot is free. At most
  // half of the slots are used.
  private var slots = new Array[Int](64)

  def size: Int = count

  override def isEmpty: Boolean = count == 0

  override def bytes: Long = keys.length + 4L * starts.length + 8L * hashes.length + 4L * slots.length

  override def contains(key: KeyBuffer): Boolean = slots(slotOf(key, key.hash)) != 0

  def +=(key: KeyBuffer): Unit = {
    val hash = key.hash
    if (slots(slotOf(key, hash)) == 0) {
      if (count == starts.length) {
        starts = Arrays.copyOf(starts, count * 2)
        hashes = Arrays.copyOf(hashes, count * 2)
      }
      if (keys.length - used < key.size) keys = Arrays.copyOf(keys, math.max(keys.length * 2, used + key.size))
      System.arraycopy(key.array, 0, keys, used, key.size)
      starts(count) = used
      hashes(count) = hash
      used += key.size
      count += 1
      if (count * 2 > slots.length) rehash() else slots(slotOf(key, hash)) = count
    }
  }

  override def foreach(key: KeyBuffer)(f: => Unit): Unit = (0 until count).foreach { i =>
    key.set(keys, starts(i), end(i) - starts(i))
    f
  }

  /**
   * Calls `f` for each key, in the order of the hashes; keys with the same hash are ordered by their bytes.
   *
   * @param f receives the hash of the key, an array with its bytes, their offset in the array, and their number
   */
  def foreachSorted(f: (Long, Array[Byte], Int, Int) => Unit): Unit = {
    val order = Array.range(0, count).map(Int.box)
    Arrays.sort(order, (a: Integer, b: Integer) => compare(a, b))
    order.foreach(i => f(hashes(i), keys, starts(i), end(i) - starts(i)))
  }

  private def compare(a: Int, b: Int): Int = {
    val byHash = java.lang.Long.compare(hashes(a), hashes(b))
    if (byHash != 0) byHash else Arrays.compare(keys, starts(a), end(a), keys, starts(b), end(b))
  }

  private def end(i: Int): Int = if (i + 1 == count) used else starts(i + 1)

  private def slotOf(key: KeyBuffer, hash: Long): Int = {
    var slot = hash.toInt & (slots.length - 1)
    while (slots(slot) != 0 && !isKey(slots(slot) - 1, key, hash)) slot = (slot + 1) & (slots.length - 1)
    slot
  }

  private def isKey(i: Int, key: KeyBuffer, hash: Long): Boolean =
    hashes(i) == hash && key.equalsAt(keys, starts(i), end(i) - starts(i))

  private def rehash(): Unit = {
    slots = new Array[Int](slots.length * 4)
    (0 until count).foreach { i =>
      var slot = hashes(i).toInt & (slots.length - 1)
      while (slots(slot) != 0) slot = (slot + 1) & (slots.length - 1)
      slots(slot) = i + 1
    }
  }
}

/** A set of keys that do not fit into memory and are stored in a [[SpilledFile]]. */
final private[scan] class SpilledKeys(file: SpilledFile) extends KeySet {
  override def isEmpty: Boolean = file.count == 0
  override def bytes: Long = file.bytes
  override def contains(key: KeyBuffer): Boolean = file.contains(key)
}

/**
 * Collects any number of keys. Not thread-safe.
 *
 * @param maxBytes memory limit in bytes; if the keys exceed this limit, they are spilled to a file
 * @param directory directory of the spill file
 * @param encrypts whether the spill file is encrypted. It must be encrypted if any of the delete files is
 */
final private[scan] class KeySetBuilder(
    columns: Vector[EqualityColumn],
    maxBytes: Long,
    directory: String,
    encrypts: Boolean
) {
  private val key = new KeyBuffer
  private val usesLongs = LongKeys.canStore(columns)
  private val runBytes = math.max(maxBytes, KeySetBuilder.MinRunBytes)
  private var longs = new LongSet
  private var hasNull = false
  private var others = new BytesKeys
  private var spill: Option[KeySpill] = None

  /**
   * Adds a key.
   *
   * @param values the key's values in the order of the columns, with the Java types of [[iceberglite.data.Record]]
   */
  def +=(values: Array[AnyRef]): Unit = {
    key.clear()
    values.foreach(key.put)
    add(key)
  }

  def ++=(keys: InMemoryKeys): Unit = {
    val buffer = new KeyBuffer
    keys.foreach(buffer)(add(buffer))
  }

  def result(): KeySet = spill match {
    case Some(keys) => new SpilledKeys(keys.finish(others))
    case None => if (usesLongs) new LongKeys(longs, hasNull) else others
  }

  /** Discards an unfinished set and its temporary files. */
  def discard(): Unit = spill.foreach(_.discard())

  private def add(key: KeyBuffer): Unit =
    if (usesLongs && spill.isEmpty) {
      if (key.isNull) hasNull = true else longs += key.long
      if (longs.bytes > maxBytes) {
        val inMemory = new LongKeys(longs, hasNull)
        spill = Some(new KeySpill(directory, maxBytes, encrypts))
        longs = new LongSet
        this ++= inMemory
      }
    } else {
      others += key
      if (others.bytes > (if (spill.isEmpty) maxBytes else runBytes)) {
        if (spill.isEmpty) spill = Some(new KeySpill(directory, maxBytes, encrypts))
        spill.foreach(_.write(others))
        others = new BytesKeys
      }
    }
}

private object KeySetBuilder {

  /**
   * The minimum amount of memory, in bytes, for the keys of each run after the first one. It prevents tiny files if the
   * memory limit is low.
   */
  val MinRunBytes: Long = 16L << 10
}
