package iceberglite.spark.catalog

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{Identifier, Table}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}

/** Updates the cached results of queries (`CACHE TABLE`, `DataFrame.cache`). */
object CachedPlans {

  /**
   * Refreshes the cached results of queries on a table after a statement of the connector has changed the table. This
   * includes queries that read one of the changed branches or tags by name. Spark itself refreshes cached results only
   * after its own statements.
   */
  def refresh(
      session: SparkSession,
      catalog: LiteCatalog,
      ident: Identifier,
      before: TableMetadata,
      after: TableMetadata
  ): Unit = {
    val cache = session.sharedState.cacheManager
    if (!cache.isEmpty) {
      val changedRefs = after.refs.filterNot { case (name, ref) => before.refs.get(name).contains(ref) }
      ((ident, catalog.loadTable(ident)) +: changedRefs.toSeq.flatMap(tableByRefName(catalog, ident))).foreach {
        case (name, table) =>
          cache.recacheByPlan(session, DataSourceV2Relation.create(table, Some(catalog), Some(name)))
      }
    }
  }

  /**
   * Returns the table at a branch or tag, once for each of the two forms in which a query can name it: `t.branch_b`
   * or `t.tag_b`, and `t VERSION AS OF 'b'`.
   */
  private def tableByRefName(catalog: LiteCatalog, ident: Identifier)(
      ref: (String, SnapshotRef)
  ): Seq[(Identifier, Table)] = {
    val state = ref match {
      case (name, _: SnapshotRef.Branch) => TimeTravel.OnBranch(name)
      case (name, _: SnapshotRef.Tag) => TimeTravel.OnTag(name)
    }
    val selected = Identifier.of(ident.namespace :+ ident.name, state.selector)
    Seq(selected -> catalog.loadTable(selected), ident -> catalog.loadTable(ident, ref._1))
  }
}
