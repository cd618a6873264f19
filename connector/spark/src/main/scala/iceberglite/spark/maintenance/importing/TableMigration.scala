package iceberglite.spark.maintenance.importing

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.connector.catalog.{CatalogExtension, Identifier, TableCatalog}

import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.IcebergError.{AlreadyExists, InvalidArgument, Unsupported}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.SummaryKey

/**
 * Replaces a table of Spark's session catalog by an Iceberg table with the same name and files. The original table is
 * renamed and remains as a backup.
 *
 * Before the rename, the original table gets a property with its location. If the driver's process ends during the
 * migration, a later call for the same table recognizes by this property that the migration is not finished, and
 * completes it.
 *
 * @param backup the name of the backup
 * @param dropsBackup whether to drop the backup after success
 */
final private[iceberglite] class TableMigration private (
    session: SparkSession,
    catalog: LiteCatalog,
    ident: Identifier,
    backup: Identifier,
    dropsBackup: Boolean,
    ignoresMissing: Boolean
) {
  private val sessionCatalog = session.sessionState.catalog
  private val mark = TableMigration.markOf(ident)

  /**
   * Migrates the table, or completes a migration that was interrupted. After a failure, the original table has its
   * original name again, unless the new table exists, for example because the outcome of its commit was unknown.
   *
   * @param properties properties in addition to the properties of the original table
   * @return the number of files
   */
  def run(properties: Map[String, String]): Long = {
    val files = interruptedAt match {
      case Some(_) if catalog.isIcebergTable(ident) => filesOfTable
      case Some(location) if !catalog.tableExists(ident) => orRestore(create(location, properties))
      case _ => start(properties)
    }
    detachFiles()
    if (dropsBackup) catalog.dropTable(backup)
    files
  }

  private def start(properties: Map[String, String]): Long = {
    if (catalog.isIcebergTable(ident)) {
      throw InvalidArgument("table", TableMigration.nameOf(ident), "It is an Iceberg table and need not be migrated")
    }
    val location = ImportSource.table(session, ident).location
    if (catalog.tableExists(backup)) throw AlreadyExists(
      ObjectKind.Table,
      TableMigration.nameOf(backup),
      "The original table would get this name. Set backup_table_name to another name, or drop the table"
    )
    orRestore {
      alter(ident)(original => original.copy(properties = original.properties + (mark -> location)))
      rename(ident, backup)
      create(location, properties)
    }
  }

  /**
   * Returns the original location of the table if an earlier migration of this table was interrupted after the rename.
   */
  private def interruptedAt: Option[String] = {
    val name = TableMigration.sparkName(backup)
    if (sessionCatalog.tableExists(name)) sessionCatalog.getTableMetadata(name).properties.get(mark) else None
  }

  private def create(location: String, properties: Map[String, String]): Long = {
    // The source is loaded after the rename, because a managed table moves to another directory when it is renamed.
    val source = ImportSource.table(session, backup)
    val added = Map("migrated" -> "true", TableCatalog.PROP_LOCATION -> location)
    new TableFromSource(session, catalog, source, ignoresMissing).create(ident, properties ++ added)(_ => ())
  }

  private def filesOfTable: Long = {
    val table = catalog.sharedTable(ident).current
    table.metadata.currentSnapshot.flatMap(_.count(SummaryKey.TotalDataFiles)).getOrElse(0L)
  }

  private def alter(name: Identifier)(change: CatalogTable => CatalogTable): Unit =
    sessionCatalog.alterTable(change(sessionCatalog.getTableMetadata(TableMigration.sparkName(name))))

  private def rename(from: Identifier, to: Identifier): Unit = {
    catalog.renameTable(from, to)
    Seq(from, to).foreach { name =>
      catalog.invalidateTable(name)
      sessionCatalog.refreshTable(TableMigration.sparkName(name))
    }
  }

  private def orRestore(change: => Long): Long =
    try change
    catch {
      case e @ (NonFatal(_) | _: InterruptedException) =>
        // An interrupt of the statement must not stop the restoration of the table's name.
        val wasInterrupted = Thread.interrupted()
        try restore(e)
        finally if (wasInterrupted) Thread.currentThread.interrupt()
        throw e
    }

  /**
   * Renames the backup back to the original name. If the outcome of the new table's commit was unknown and the new
   * table exists, the backup is not renamed.
   */
  private def restore(cause: Throwable): Unit =
    try {
      if (catalog.isIcebergTable(ident)) cause.addSuppressed(AlreadyExists(
        ObjectKind.Table,
        TableMigration.nameOf(ident),
        s"The original table has the name ${TableMigration.nameOf(backup)}. Call migrate again to complete it"
      ))
      else {
        if (!catalog.tableExists(ident)) rename(backup, ident)
        alter(ident)(original => original.copy(properties = original.properties - mark))
      }
    } catch { case NonFatal(failed) => cause.addSuppressed(failed) }

  /**
   * Makes the backup an external table, because dropping a managed table would delete the files, which the new table
   * uses. If the migration will also drop the backup, the backup keeps the property with the original location. If the
   * driver's process ends before the drop, a later call thus recognizes the backup and drops it.
   */
  private def detachFiles(): Unit = alter(backup) { original =>
    val properties = if (dropsBackup) original.properties else original.properties - mark
    original.copy(tableType = CatalogTableType.EXTERNAL, properties = properties)
  }
}

private[iceberglite] object TableMigration {
  private val BackupSuffix = "_BACKUP_"

  /** Prefix of the property that a table has during its migration; it is followed by the name of the table. */
  private[importing] val MarkPrefix = "iceberg-lite.migrating."

  private def markOf(ident: Identifier): String = MarkPrefix + ident.name.toLowerCase(Locale.ROOT)

  /**
   * Returns the migration of a table, which [[TableMigration.run]] starts.
   *
   * @param backupName the name of the backup in the table's namespace; by default, the table's name with the suffix
   *   `_BACKUP_`
   * @throws Unsupported if the catalog is not Spark's session catalog
   */
  def of(
      session: SparkSession,
      catalog: LiteCatalog,
      ident: Identifier,
      backupName: Option[String],
      dropsBackup: Boolean,
      ignoresMissing: Boolean
  ): TableMigration = {
    if (!catalog.isInstanceOf[CatalogExtension]) throw Unsupported(
      s"migrating a table in the catalog ${catalog.name}",
      "Only tables of spark_catalog can be migrated, if it is iceberglite.spark.SparkSessionCatalog. To create a " +
        "table in another catalog, use the procedure snapshot or add_files"
    )
    val backup = Identifier.of(ident.namespace, backupName.getOrElse(ident.name + BackupSuffix))
    new TableMigration(session, catalog, ident, backup, dropsBackup, ignoresMissing)
  }

  private def sparkName(ident: Identifier): TableIdentifier =
    TableIdentifier(ident.name, ident.namespace.headOption)

  private def nameOf(ident: Identifier): String = (ident.namespace :+ ident.name).mkString(".")
}
