package iceberglite.spark.write

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.execution.UnsafeExternalRowSorter.PrefixComputer
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator}

/** Rows put aside under a number, and taken back in the order of the numbers; on disk where memory is short. */
private[write] trait RowOverflow extends AutoCloseable {
  def put(number: Long, row: InternalRow): Unit

  /** The rows; each is good until the next one. */
  def sorted: Iterator[InternalRow]
}

/** With the sorter that Spark sorts by, and its memory. To be used in a task. */
final private[write] class SparkRowOverflow(schema: StructType) extends RowOverflow {

  /** The number of the row being put; the sorter knows nothing but the row. */
  private var current = 0L

  private val numbers = new PrefixComputer {
    private val prefix = new PrefixComputer.Prefix

    override def computePrefix(row: InternalRow): PrefixComputer.Prefix = {
      prefix.value = current
      prefix
    }
  }

  /** The number is all there is to compare. */
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
