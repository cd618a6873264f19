package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{
  NoSuchNamespaceException,
  NoSuchTableException,
  PartitionSpec,
  UnresolvedPartitionSpec,
  UnresolvedTable
}
import org.apache.spark.sql.catalyst.plans.logical.{DropPartitions, LogicalPlan, ShowPartitions, TruncatePartition}
import org.apache.spark.sql.connector.catalog.Table

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.{ObjectKind, Spelling}

/**
 * Checks the names of partition fields in statements about partitions of iceberg-lite tables. The parser calls this
 * check, because Spark resolves these names together with the table, and Spark's errors do not list the names of the
 * partition fields.
 */
final private[sql] class PartitionNames(session: SparkSession) {

  /**
   * Checks the names in a plan, and returns the plan unchanged.
   *
   * @throws org.apache.spark.sql.AnalysisException if the table is partitioned, and one of the names is not the name of
   *   a partition field. For an unpartitioned table, Spark reports the error
   */
  def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case DropPartitions(table: UnresolvedTable, partitions, _, _) => check(table.multipartIdentifier, partitions)
      case TruncatePartition(table: UnresolvedTable, partition) => check(table.multipartIdentifier, Seq(partition))
      case ShowPartitions(table: UnresolvedTable, pattern, _) => check(table.multipartIdentifier, pattern.toSeq)
      case _ =>
    }
    plan
  }

  private def check(name: Seq[String], partitions: Seq[PartitionSpec]): Unit = {
    val keys = partitions.collect { case partition: UnresolvedPartitionSpec => partition.spec.keys }.flatten
    for (table <- if (keys.isEmpty) None else icebergTable(name)) {
      val fields = table.partitionSchema.fieldNames.toSeq
      val isSame = session.sessionState.conf.resolver
      keys.find(key => fields.nonEmpty && !fields.exists(isSame(_, key)))
        .foreach(key => throw SparkErrors.of(table.name, unknown(table, key, fields)))
    }
  }

  private def unknown(table: SparkTable, key: String, fields: Seq[String]): NotFound = {
    val metadata = table.table.metadata
    val ofColumn =
      metadata.spec.fields.filter(f => metadata.schema.names.get(f.sourceId).exists(_.equalsIgnoreCase(key)))
        .map(_.name).find(fields.contains)
    val proposal = ofColumn.orElse(Spelling.closest(key, fields)).fold("")(near => s" Did you mean $near?")
    NotFound(
      ObjectKind.PartitionField,
      key,
      s"The partition fields of ${table.name} are ${fields.mkString(", ")}.$proposal"
    )
  }

  private def icebergTable(name: Seq[String]): Option[SparkTable] = CatalogNames.resolve(session, name) match {
    case (catalog: LiteCatalog, ident) =>
      // Spark reports a missing table when it resolves the name.
      try iceberg(catalog.loadTable(ident))
      catch { case _: NoSuchTableException | _: NoSuchNamespaceException => None }
    case _ => None
  }

  private def iceberg(table: Table): Option[SparkTable] = table match {
    case own: SparkTable => Some(own)
    case _ => None
  }
}
