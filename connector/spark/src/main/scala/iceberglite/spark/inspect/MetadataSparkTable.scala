package iceberglite.spark.inspect

import java.util

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.TableCapability
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.inspect.MetadataTable
import iceberglite.spark.conf.{RangeOptions, ReadOptions, TimeTravel}
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.session.PinnableTable
import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.table.Table

/**
 * A metadata table, such as `db.t.snapshots`, as a read-only Spark table.
 *
 * @param source returns the current table
 * @param view the metadata table
 * @param travel selects the snapshot of the table
 */
final class MetadataSparkTable(source: () => Table, val view: MetadataTable, val travel: TimeTravel)
    extends PinnableTable
    with ErrorBoundary {
  private val resolved = source()

  checkTravel(travel)

  private def checkTravel(selected: TimeTravel): Unit = if (selected != TimeTravel.Latest && !view.showsOneSnapshot) {
    throw InvalidArgument(
      s"time travel of $name",
      selected.selector,
      "This metadata table does not support time travel; remove the version, timestamp, branch, tag or read option"
    )
  }

  private lazy val sparkSchema = in(SparkTypes.toSpark(view.schema(resolved)))

  override def name: String = s"${resolved.name}.${view.name}"

  override def schema: StructType = sparkSchema

  override private[iceberglite] def pinned: MetadataSparkTable = in {
    val current = source()
    new MetadataSparkTable(() => current, view, travel)
  }

  override def capabilities: util.Set[TableCapability] = in(Set(TableCapability.BATCH_READ).asJava)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = in {
    val session = SparkSession.active
    RangeOptions.reject(options, name)
    ReadOptions.check(options, session)
    val current = source()
    val state = TimeTravel.ofOptions(options) match {
      case TimeTravel.Latest => travel
      case requested if travel == TimeTravel.Latest || travel == requested => requested
      case requested => throw InvalidArgument(
          "read options",
          requested.selector,
          s"$name already selects a state of the table, ${travel.selector}; remove one of the two selections"
        )
    }
    checkTravel(state)
    val splits = MetadataSplits.of(options, session, current.properties)
    val snapshot = state.snapshot(current.metadata)
    checkColumns(current)
    new MetadataTableScanBuilder(name, current, view, snapshot, sparkSchema, splits, session)
  }

  /**
   * Requires that the columns have not changed since Spark resolved the metadata table. Columns of the table determine
   * columns of the metadata table, such as the fields of `readable_metrics`.
   */
  private def checkColumns(current: Table): Unit =
    if (SparkTypes.toSpark(view.schema(current)) != sparkSchema) throw ValidationFailed(
      s"The columns of $name have changed since the query or DataFrame was created. Create it again"
    )

  override protected def errorName: String = name

  override def toString: String = name

  override def equals(that: Any): Boolean = that match {
    case other: MetadataSparkTable => other.name == name && other.travel == travel
    case _ => false
  }

  override def hashCode: Int = (name, travel).hashCode
}
