package iceberglite.spark.maintenance.importing

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTableType
import org.apache.spark.sql.connector.catalog.{CatalogExtension, Identifier, TableCatalog}

import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.IcebergError.{AlreadyExists, Unsupported}
import iceberglite.spec.ObjectKind

/**
 * Replaces a table of Spark's session catalog by an Iceberg table with the same name and files. The original table is
 * renamed and remains as a backup.
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

  /**
   * Migrates the table. After any failure, the table has its original name again.
   *
   * @param properties properties in addition to the properties of the original table
   * @return the number of files
   */
  def run(properties: Map[String, String]): Long = {
    val location = ImportSource.table(session, ident).location
    if (catalog.tableExists(backup)) throw AlreadyExists(
      ObjectKind.Table,
      TableMigration.nameOf(backup),
      "The original table would get this name. Set backup_table_name to another name, or drop the table"
    )
    rename(ident, backup)
    val files =
      try {
        // The source is loaded after the rename, because a managed table moves to another directory when it is renamed.
        val source = ImportSource.table(session, backup)
        val added = Map("migrated" -> "true", TableCatalog.PROP_LOCATION -> location)
        new TableFromSource(session, catalog, source, ignoresMissing).create(ident, properties ++ added)(_ => ())
      } catch {
        case NonFatal(e) =>
          restore(e)
          throw e
      }
    detachFiles()
    if (dropsBackup) catalog.dropTable(backup)
    files
  }

  private def rename(from: Identifier, to: Identifier): Unit = {
    catalog.renameTable(from, to)
    Seq(from, to).foreach { name =>
      catalog.invalidateTable(name)
      session.sessionState.catalog.refreshTable(TableMigration.sparkName(name))
    }
  }

  /**
   * Gives the original table its name again. If the outcome of the new table's commit was unknown and the new table
   * exists, the backup keeps its name.
   */
  private def restore(cause: Throwable): Unit =
    try {
      if (!catalog.tableExists(ident)) rename(backup, ident)
      else cause.addSuppressed(AlreadyExists(
        ObjectKind.Table,
        TableMigration.nameOf(ident),
        s"The original table has the name ${TableMigration.nameOf(backup)}"
      ))
    } catch { case NonFatal(failed) => cause.addSuppressed(failed) }

  /** Makes the backup an external table, because dropping a managed table would delete the files of the new table. */
  private def detachFiles(): Unit = {
    val sessionCatalog = session.sessionState.catalog
    val original = sessionCatalog.getTableMetadata(TableMigration.sparkName(backup))
    if (original.tableType == CatalogTableType.MANAGED) {
      sessionCatalog.alterTable(original.copy(tableType = CatalogTableType.EXTERNAL))
    }
  }
}

private[iceberglite] object TableMigration {
  private val BackupSuffix = "_BACKUP_"

  /**
   * Prepares a migration.
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
