package iceberglite.spark.maintenance

import java.io.ByteArrayOutputStream
import java.lang.{Integer => JavaInteger}
import java.nio.ByteBuffer
import java.util.{HashMap => JavaMap}

import scala.collection.mutable

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.util.sketch.BloomFilter

import iceberglite.puffin.DeletionVector
import iceberglite.spark.cluster.ClusterJob.{deserialize, serialize}

/**
 * Finds a limited number of rows by their keys. The driver holds the keys, so that the job that reads the keys and the
 * job that finds the rows have a single stage each and no shuffle. The search must be short, because it runs within a
 * commit attempt, during which other writers may commit.
 */
private[maintenance] object DriverRowSearch {

  /** The maximum number of keys that the driver holds or receives. */
  val MaxRows: Long = 1L << 18

  /** The false-positive probability of the Bloom filter. */
  private val FalsePositives = 0.01

  /**
   * The keys of the rows to find. A key occurs once for each row.
   *
   * @param bloom a Bloom filter of the hashes of the keys, in Spark's format
   */
  final case class Keys(keys: Array[Array[Byte]], bloom: Array[Byte]) {
    def isEmpty: Boolean = keys.isEmpty
    def size: Int = keys.length
  }

  /** Returns the keys of rows. @param rows rows with a key, as bytes, and its hash */
  def keysOf(rows: DataFrame): Keys = {
    val results = rows.queryExecution.toRdd.mapPartitions(collectKeys).collect().map(deserialize[KeysOfTask](_))
    val bloom = BloomFilter.create(math.max(1L, results.iterator.map(_.hashes.length.toLong).sum), FalsePositives)
    results.foreach(_.hashes.foreach(bloom.putLong))
    val bytes = new ByteArrayOutputStream
    bloom.writeTo(bytes)
    Keys(results.flatMap(_.keys), bytes.toByteArray)
  }

  /**
   * Finds rows with the given keys. A key that occurs n times in `wanted` matches at most n rows; if more rows have the
   * key, the first n rows are returned.
   *
   * @param rows rows with a key, as bytes, the file and the position
   * @return the positions of the rows by file. There are fewer positions than keys if a row is not found
   */
  def find(rows: DataFrame, wanted: Keys): Vector[(String, DeletionVector)] = {
    val keys = wanted.keys
    val results = rows.queryExecution.toRdd.mapPartitions(findInTask(keys, _)).collect()
    val left = new RowsLeft(keys)
    val builders = mutable.TreeMap.empty[String, DeletionVector.Builder]
    for (result <- results; found <- deserialize[Vector[FoundRows]](result)) {
      val builder = builders.getOrElseUpdate(found.file, DeletionVector.newBuilder)
      found.keys.indices.foreach(i => if (left.take(found.keys(i))) builder += found.positions(i))
    }
    builders.iterator.map { case (file, builder) => file -> builder.result() }.filterNot(_._2.isEmpty).toVector
  }

  private def collectKeys(rows: Iterator[InternalRow]): Iterator[Array[Byte]] = {
    val (keys, hashes) = (mutable.ArrayBuilder.make[Array[Byte]], mutable.ArrayBuilder.make[Long])
    rows.foreach { row =>
      keys += row.getBinary(0)
      hashes += row.getLong(1)
    }
    Iterator(serialize(KeysOfTask(keys.result(), hashes.result())))
  }

  private def findInTask(keys: Array[Array[Byte]], rows: Iterator[InternalRow]): Iterator[Array[Byte]] = {
    val left = new RowsLeft(keys)
    val found = mutable.LinkedHashMap.empty[String, FoundInFile]
    rows.foreach { row =>
      val key = row.getBinary(0)
      if (left.take(key)) found.getOrElseUpdate(row.getString(1), new FoundInFile).add(key, row.getLong(2))
    }
    Iterator(serialize(found.iterator.map { case (file, rowsOfFile) => rowsOfFile.result(file) }.toVector))
  }

  /** The keys that a task has read, and their hashes. */
  final private case class KeysOfTask(keys: Array[Array[Byte]], hashes: Array[Long])

  /** The keys and positions of rows of a file. */
  final private case class FoundRows(file: String, keys: Array[Array[Byte]], positions: Array[Long])

  final private class FoundInFile {
    private val keys = mutable.ArrayBuilder.make[Array[Byte]]
    private val positions = mutable.ArrayBuilder.make[Long]

    def add(key: Array[Byte], position: Long): Unit = {
      keys += key
      positions += position
    }

    def result(file: String): FoundRows = FoundRows(file, keys.result(), positions.result())
  }

  /** For each key, the number of rows still to be found. @param keys the keys; a key occurs once for each row */
  final private class RowsLeft(keys: Array[Array[Byte]]) {
    private val counts = new JavaMap[ByteBuffer, Int]
    keys.foreach(key => counts.merge(ByteBuffer.wrap(key), 1, JavaInteger.sum(_, _)))

    /** Counts a row with the key as found. @return false if all rows of the key have already been found */
    def take(key: Array[Byte]): Boolean = {
      val buffer = ByteBuffer.wrap(key)
      val count = counts.getOrDefault(buffer, 0)
      if (count > 0) counts.put(buffer, count - 1)
      count > 0
    }
  }
}
