package iceberglite.spark.write

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.execution.UnsafeExternalRowSorter.PrefixComputer
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator}

/**
 * Stores rows with a number for each row, and returns the rows in the order of their numbers. Rows are spilled to disk
 * if memory is low.
 */
private[write] trait RowOverflow extends AutoCloseable {
  def put(number: Long, row: InternalRow): Unit

  /** Returns the rows. A row is valid until the iterator returns the next row. */
  def sorted: Iterator[InternalRow]
}

/**
 * Stores the rows with Spark's external sorter and the memory of the current task. An instance can be created only
 * inside a task.
 */
final private[write] class SparkRowOverflow(schema: StructType) extends RowOverflow {

  /**
   * The number of the current row. This number is a field, because the sorter passes only the row to `computePrefix`.
   */
  private var current = 0L

  private val numbers = new PrefixComputer {
    private val prefix = new PrefixComputer.Prefix

    override def computePrefix(row: InternalRow): PrefixComputer.Prefix = {
      prefix.value = current
      prefix
    }
  }

  /** Treats all rows as equal, so that only the numbers determine the order. */
  private val equal: java.util.function.Supplier[RecordComparator] = () =>
    (_: Any, _: Long, _: Int, _: Any, _: Long, _: Int) => 0

  private val sorter = UnsafeExternalRowSorter.createWithRecordComparator(
    schema,
    equal,
    PrefixComparators.LONG,
    numbers,
    SparkEnv.get.memoryManager.pageSizeBytes,
    true
  )
  private lazy val projection = UnsafeProjection.create(schema)

  override def put(number: Long, row: InternalRow): Unit = {
    current = number
    row match {
      case unsafe: UnsafeRow => sorter.insertRow(unsafe)
      case other => sorter.insertRow(projection(other))
    }
  }

  override def sorted: Iterator[InternalRow] = sorter.sort()

  override def close(): Unit = sorter.cleanupResources()
}
