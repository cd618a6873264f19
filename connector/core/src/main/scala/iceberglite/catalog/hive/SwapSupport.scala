package iceberglite.catalog.hive

import java.util.Collections

import org.apache.hadoop.hive.metastore.api.{FieldSchema, InvalidOperationException, Table}
import org.apache.thrift.TException

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.table.TableIdentifier

/**
 * Whether a Metastore compares the current value with the value that a writer expects. Releases before Hive 2.3.10 and
 * 4.0 do not, and their response to a version request does not show it.
 */
final private[hive] class SwapSupport(objects: HiveObjects, uri: String) {
  @volatile private var known = false

  /**
   * Tests the support once, with a change that every Metastore rejects: its partition keys differ, and it expects a
   * value that does not exist. A Metastore that compares rejects it for the latter reason.
   *
   * @throws Unsupported commits without the lock would overwrite each other
   * @throws TException the server cannot be asked
   */
  def require(id: TableIdentifier, table: Table): Unit = if (!known) {
    val other = table.deepCopy()
    other.setPartitionKeys(Collections.singletonList(new FieldSchema("no_such_column", "int", "")))
    try objects.alter(id, other, Some(HiveParameters.LocationKey -> "no such file"))
    catch {
      case refused: TException if SwapSupport.isModified(refused) => known = true
      case _: InvalidOperationException => throw unsupported
    }
    if (!known) throw unsupported
  }

  private def unsupported: Unsupported = Unsupported(
    s"commits without the lock of the Hive Metastore $uri: it does not compare the current value, so commits would " +
      "be lost",
    s"Remove ${HiveSettings.LockEnabled} and the table property ${HiveParameters.LockKey}, or use Hive 2.3.10, or " +
      "4.0 or later"
  )
}

private[hive] object SwapSupport {

  /** Whether a response means that the current value is not the expected one. */
  def isModified(answer: TException): Boolean = {
    val text = HiveFailure.text(answer)
    text.contains("has been modified") && text.contains(s"key '${HiveParameters.LocationKey}'")
  }
}
