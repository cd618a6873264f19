package iceberglite.catalog

import java.nio.file.{Files, Path}

import org.apache.hadoop.conf.Configuration
import org.scalatest.Suite

import iceberglite.spec.TestMetadata._
import iceberglite.FilesBelow
import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.metadata.TableMetadata
import iceberglite.storage.{HadoopFileIO, StorageSettings, TemporaryDirectory}
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.FastAppend

/** Creates a victim's tables, and forged metadata files with which an attacker tries to delete the victim's files. */
trait HostileTables extends TemporaryDirectory { self: Suite =>
  protected val io = new HadoopFileIO(StorageSettings.configuration(new Configuration(false), Map.empty))
  protected val Victim: TableIdentifier = TableIdentifier(Vector("db"), "victim")
  protected val Evil: TableIdentifier = TableIdentifier(Vector("db"), "evil")

  /** Table properties that make each commit delete old metadata files. */
  protected val Expiring: Map[String, String] = Map(
    "write.metadata.previous-versions-max" -> "1",
    "write.metadata.delete-after-commit.enabled" -> "true"
  )

  protected def warehouse: Path = directory.resolve("wh")

  /** Opens a JDBC catalog on the given SQLite database. All catalogs of a test share one warehouse. */
  protected def jdbc(database: String, settings: (String, String)*): Catalog = Catalogs.open(
    "lite",
    Map("type" -> "jdbc", "uri" -> s"jdbc:sqlite:$directory/$database.sqlite", "warehouse" -> s"file:$warehouse") ++
      settings,
    io,
    environment
  )

  protected def hadoop(settings: (String, String)*): Catalog =
    Catalogs.open("lite", Map("type" -> "hadoop", "warehouse" -> s"file:$warehouse") ++ settings, io, environment)

  protected def append(table: Table, paths: String*): Table = table.transaction(Map.empty, environment)
    .add(new FastAppend(paths.map(file(_)).toVector)).commit()

  /** Writes a data file into a directory, and returns its path. */
  protected def data(place: String, name: String = "x.parquet"): String = {
    val path = s"$place/$name"
    io.write(path, Array[Byte](1))
    path
  }

  /** Creates a table with two data files. */
  protected def filled(catalog: Catalog, id: TableIdentifier, creation: TableCreation = unpartitioned()): Table = {
    val table = catalog.create(id, creation)
    append(append(table, data(s"${table.location}/data")), data(s"${table.location}/data", "y.parquet"))
  }

  /**
   * Runs an attack, and checks that every file that existed before still exists, except version hints and files that
   * `except` selects.
   */
  protected def assertFilesKept(attack: => Any, except: Path => Boolean = _ => false): Unit = {
    val before = FilesBelow.withoutHints(directory).filterNot(except)
    attack
    val lost = before -- FilesBelow.of(directory)
    assert(lost.isEmpty, lost.mkString("deleted: ", ", ", ""))
  }

  protected def isOf(place: String)(file: Path): Boolean = file.startsWith(directory.resolve(place))

  /** Writes a metadata file, as an attacker would do, and returns its path. */
  protected def forged(metadata: TableMetadata, path: Path): String = {
    Files.createDirectories(path.getParent)
    Files.write(path, TableMetadataJson.write(metadata))
    s"file:$path"
  }

  protected def forged(metadata: TableMetadata): String =
    forged(metadata, directory.resolve("outside/00009-evil.metadata.json"))

  protected def withNewUuid(metadata: TableMetadata): TableMetadata =
    metadata.edited(uuid = Some(java.util.UUID.randomUUID))

  /** Returns two copies of a table's metadata, which reference its files: one with another UUID, and one unchanged. */
  protected def copies(metadata: TableMetadata): Seq[TableMetadata] = Seq(withNewUuid(metadata), metadata)

  protected def isDatabase(file: Path): Boolean = file.toString.contains(".sqlite")
}
