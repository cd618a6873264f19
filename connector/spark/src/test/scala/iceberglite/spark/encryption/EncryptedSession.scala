package iceberglite.spark.encryption

import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog}

import iceberglite.encryption.FileKey
import iceberglite.scan.TableScan
import iceberglite.spark.table.SparkTable
import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.Table
import iceberglite.tree.TreeReader

/**
 * A session with the catalogs `enc` of iceberg-lite and `encice` of Apache Iceberg on the same warehouse, with the same
 * key management service. The catalog `nokms` of iceberg-lite has no such service.
 */
object EncryptedSession {
  val warehouse: Path = Files.createDirectories(SharedSession.root.resolve("encrypted-warehouse"))

  lazy val session: SparkSession = configured(SharedSession.liteExtensions)

  /** A session with the extensions of Apache Iceberg. */
  lazy val peerSession: SparkSession = configured(SharedSession.peerExtensions)

  private def configured(base: SparkSession): SparkSession = {
    val session = base.newSession()
    val location = "warehouse" -> warehouse.toUri.toString
    val lite = classOf[SparkCatalog].getName
    val settings =
      SharedSession.catalogConf(
        "enc",
        lite,
        "type" -> "hadoop",
        location,
        "encryption.kms-impl" -> classOf[TestKeys].getName
      ) ++
        SharedSession.catalogConf("nokms", lite, "type" -> "hadoop", location) ++
        SharedSession.catalogConf(
          "encice",
          SharedSession.PeerCatalog,
          "catalog-impl" -> classOf[EncryptingPeerCatalog].getName,
          location,
          "cache-enabled" -> "false"
        )
    settings.foreach { case (key, value) => session.conf.set(key, value) }
    session
  }

  private def load(name: String): Table = {
    val Array(catalogName, namespace, table) = name.split('.')
    val catalog = session.sessionState.catalogManager.catalog(catalogName).asInstanceOf[TableCatalog]
    catalog.loadTable(Identifier.of(Array(namespace), table)).asInstanceOf[SparkTable].table
  }

  /** Returns the keys of the live data and delete files of all snapshots of a table. */
  def keysOf(name: String): Vector[FileKey] = {
    val loaded = load(name)
    loaded.metadata.snapshots.flatMap { snapshot =>
      TableScan(loaded.tree(), Some(snapshot), AlwaysTrue, caseSensitive = true).plan().tasks
        .flatMap(task => task.file +: task.deletes.map(_.file)).flatMap(FileKey.of)
    }.distinct
  }

  /** Returns the keys of the manifest lists or roots, the manifests and the statistics files of a table. */
  def metadataKeysOf(name: String): Vector[FileKey] = {
    val loaded = load(name)
    val keys = loaded.tree().keys.get
    val lists = loaded.metadata.snapshots.flatMap(keys.manifestListKey)
    val manifests = loaded.metadata.snapshots.flatMap(new TreeReader(loaded.io, loaded.metadata).manifests)
    val ofManifests = manifests.flatMap(m => m.keyMetadata.map(FileKey.decode(m.path, _)))
    (lists ++ ofManifests ++ loaded.metadata.statistics.map(keys.statisticsKey)).distinct
  }
}
