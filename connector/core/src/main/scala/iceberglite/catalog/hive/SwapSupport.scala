package iceberglite.catalog.hive

import java.util.Collections

import org.apache.hadoop.hive.metastore.api.{FieldSchema, InvalidOperationException, Table}
import org.apache.thrift.TException

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.table.TableIdentifier

/**
 * Tests whether a Metastore supports compare-and-swap of a table parameter, as Hive 2.3.10 and Hive 4.0 and later do.
 * The test is needed because the version that a Metastore reports does not show whether it supports compare-and-swap.
 */
final private[hive] class SwapSupport(objects: HiveObjects, uri: String) {
  @volatile private var isSupported = false

  /**
   * Tests whether the Metastore supports compare-and-swap, with an update that every Metastore rejects. The update
   * changes the partition keys, which is not allowed, and expects a parameter value that the table does not have. Only
   * a Metastore that supports compare-and-swap reports the value as the reason. After a positive result, the test is
   * not repeated.
   *
   * @throws Unsupported if the Metastore does not support compare-and-swap, so that commits without the lock would
   *   overwrite each other
   * @throws TException if the call failed for another reason
   */
  def require(id: TableIdentifier, table: Table): Unit = if (!isSupported) {
    val invalidTable = table.deepCopy()
    invalidTable.setPartitionKeys(Collections.singletonList(new FieldSchema("no_such_column", "int", "")))
    try objects.alter(id, invalidTable, Some(HiveParameters.LocationKey -> "no such file"))
    catch {
      case error: TException if SwapSupport.isModified(error) => isSupported = true
      case _: InvalidOperationException => throw unsupported
    }
    if (!isSupported) throw unsupported
  }

  private def unsupported: Unsupported = Unsupported(
    s"commits without the lock of the Hive Metastore $uri: the Metastore does not support compare-and-swap, so " +
      "concurrent commits could be lost",
    s"Remove ${HiveSettings.LockEnabled} and the table property ${HiveParameters.LockKey}, or use Hive 2.3.10, or " +
      "4.0 or later"
  )
}

private[hive] object SwapSupport {

  /** Whether the server rejected a change because the current value is not the expected value. */
  def isModified(error: TException): Boolean = {
    val text = HiveFailure.text(error)
    text.contains("has been modified") && text.contains(s"key '${HiveParameters.LocationKey}'")
  }
}
