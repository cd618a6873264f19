package iceberglite.spark.maintenance.importing

import scala.annotation.nowarn
import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog}
import org.apache.spark.sql.connector.expressions.{Expressions, Transform}

import iceberglite.maintenance.importing.FileImport
import iceberglite.spark.catalog.Providers
import iceberglite.spark.session.LiteCatalog
import iceberglite.spark.table.StagedSparkTable
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.property.TableProperty
import iceberglite.table.Table

/**
 * Creates an Iceberg table with the columns, the partitions, the properties and the files of a table of Spark's session
 * catalog. One commit creates the table and adds the files, so that no table exists after a failure.
 *
 * @param ignoresMissing whether missing files of the source are omitted; otherwise they are an error
 */
final private[iceberglite] class TableFromSource(
    session: SparkSession,
    catalog: LiteCatalog,
    source: TableSource,
    ignoresMissing: Boolean
) {
  import TableFromSource._

  /**
   * Creates the table.
   *
   * @param properties additional properties, which take precedence over the properties of the source
   * @param check checks the staged table before files are read
   * @return the number of files
   */
  @nowarn("cat=deprecation") // The newer overload delegates to this overload of stageCreate
  def create(ident: Identifier, properties: Map[String, String])(check: Table => Unit): Long = {
    val all = inherited ++ properties + (TableCatalog.PROP_PROVIDER -> Providers.Iceberg)
    catalog.stageCreate(ident, source.table.schema, transforms, all.asJava) match {
      case staged: StagedSparkTable =>
        try {
          check(staged.table)
          val files = FileImport(checksDuplicates = true, ignoresMissing)
          val result = new SourceImport(session, staged.table).run(source, Map.empty, files)
          staged.commitStagedChanges()
          result.files
        } catch {
          case NonFatal(e) =>
            // If the outcome of the commit is unknown, this call has no effect.
            try staged.abortStagedChanges()
            catch { case NonFatal(failed) => e.addSuppressed(failed) }
            throw e
        }
      case other =>
        throw Unsupported(s"creating the table ${other.name}", s"Its catalog ${catalog.name} creates no Iceberg tables")
    }
  }

  private def inherited: Map[String, String] =
    source.table.properties.filterNot { case (key, _) => isOmitted(key) } ++
      source.table.comment.map(TableCatalog.PROP_COMMENT -> _)

  private def transforms: Array[Transform] =
    source.table.partitionColumnNames.map(name => Expressions.identity(s"`${name.replace("`", "``")}`")).toArray
}

private object TableFromSource {

  /**
   * Properties of the source that are not copied: properties that describe its storage, and properties that would set
   * locations of the new table.
   */
  private val omittedKeys: Set[String] = Set(
    "path",
    "transient_lastDdlTime",
    "serialization.format",
    "EXTERNAL",
    "TRANSLATED_TO_EXTERNAL",
    "external.table.purge",
    TableCatalog.PROP_LOCATION,
    TableProperty.MetadataPath.key,
    TableProperty.DataPath.key,
    TableProperty.FolderStoragePath.key,
    TableProperty.ObjectStoragePath.key
  )

  private def isOmitted(key: String): Boolean = omittedKeys(key) || key.startsWith(TableMigration.MarkPrefix)
}
