package iceberglite.catalog

import scala.annotation.tailrec
import scala.util.Try

import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.property.TableProperty
import iceberglite.storage.{FileIO, MetadataCodec, MetadataFiles, ReadBounds}
import iceberglite.table.{TableLocations, TableVersion}

/** The metadata files of a file-system table, `metadata/v<V>.metadata.json`, and the version hint. */
final private[catalog] class VersionFiles(io: FileIO, location: String) {
  val directory: String = TableLocations.inside(location, "metadata")
  private val hintFile = TableLocations.inside(directory, "version-hint.text")

  /**
   * Whether the table exists: it has a version hint or a metadata file, including one of a catalog that stores
   * pointers.
   */
  def exists: Boolean = io.exists(hintFile) || names().nonEmpty

  /** Returns the names of all metadata files, including those of catalogs that store pointers. */
  def names(): Vector[String] = io.list(directory).map(f => f.path.substring(f.path.lastIndexOf('/') + 1))
    .filter(name => name.endsWith(".metadata.json") || name.endsWith(".metadata.json.gz"))

  /**
   * Returns the newest version. Scans forward from the version hint, or lists the directory if the hint is not usable.
   */
  def newest(): Option[TableVersion] = fromHint().filter(isNewest).orElse(newestByListing())

  private def fromHint(): Option[TableVersion] = hint().flatMap(n => read(n).map(n -> _)).flatMap {
    case (number, hinted) => scanForward(number, None, VersionFiles.MaxSteps).fold(Option(hinted))(readIfExists)
  }

  /**
   * Whether a version is the newest. If versions are deleted, a forward scan can stop at a gap; a listing confirms the
   * newest version. If the next version is listed, it was committed after the scan, so there is no gap.
   */
  private def isNewest(version: TableVersion): Boolean =
    !TableProperty.of(TableProperty.DeleteAfterCommit, version.metadata.properties) || {
      val found = numberIn(version.metadataLocation)
      val versions = names().flatMap(numberIn)
      versions.forall(n => found.exists(n <= _)) || found.exists(n => versions.contains(n + 1))
    }

  /** Returns the newest version by a listing, without the hint. */
  def newestByListing(): Option[TableVersion] = newestByListing(VersionFiles.MaxListings)

  def pathOf(number: Int, codec: MetadataCodec): String =
    TableLocations.inside(directory, MetadataFiles.fileName(number, codec))

  /** Returns the version in a file's name; names with a UUID belong to catalogs that store pointers. */
  def numberIn(path: String): Option[Int] =
    if (path.substring(path.lastIndexOf('/') + 1).startsWith("v")) MetadataFiles.version(path) else None

  /**
   * Returns the content of the hint: a number or, from other engines, a metadata file's name with or without its
   * extension.
   */
  def hint(): Option[Int] = {
    val text =
      try Some(new String(io.read(hintFile, ReadBounds.Hint), "UTF-8").trim)
      catch { case _: UnreadableFile => None }
    text.flatMap(t => Try(t.stripPrefix("v").toInt).toOption.orElse(MetadataFiles.version(t)).filter(_ > 0))
  }

  /** Writes the hint asynchronously, because an outdated hint is also valid. */
  def writeHint(number: Int): Unit = io.replaceAsync(hintFile, number.toString.getBytes("UTF-8"))

  /**
   * Removes the temporary files of killed writers. A file is removed if it is more than a day older than the new file
   * `newFile`, by the storage's clock. If its writer is still active, that writer fails without effect and retries its
   * commit.
   */
  def removeStale(newFile: String): Unit = {
    val entries = io.list(directory)
    val name = newFile.substring(newFile.lastIndexOf('/') + 1)
    entries.find(file => file.path.endsWith(s"/$name")).foreach { newest =>
      entries.filter(file => isTemporary(file.path) && newest.modifiedMs - file.modifiedMs > VersionFiles.StaleMs)
        .foreach(file =>
          io.delete(TableLocations.inside(directory, file.path.substring(file.path.lastIndexOf('/') + 1)))
        )
    }
  }

  private def isTemporary(path: String): Boolean = path.substring(path.lastIndexOf('/') + 1) match {
    case VersionFiles.Temporary(name) => name == "version-hint.text" || MetadataFiles.isVersionName(name)
    case _ => false
  }

  def readIfExists(path: String): Option[TableVersion] =
    ifExists(path)(TableVersion(MetadataFiles.read(io, path), path))

  /**
   * Returns the content of a file; `None` only if the file does not exist. If the read fails but the file exists
   * afterwards, the read is retried: if commits delete old versions, a delayed writer can briefly create a deleted
   * version again.
   */
  def ifExists[A](path: String)(read: => A): Option[A] = {
    @tailrec def attempt(retries: Int): Option[A] = {
      val found =
        try Some(Some(read))
        catch { case e: UnreadableFile => if (!io.exists(path)) Some(None) else if (retries == 0) throw e else None }
      found match {
        case Some(result) => result
        case None => attempt(retries - 1)
      }
    }
    attempt(VersionFiles.MaxRereads)
  }

  /**
   * Reads a version under any of its possible file names. The last name is that of early releases of Apache Iceberg.
   */
  private def read(number: Int): Option[TableVersion] = {
    val names = MetadataCodec.all.map(pathOf(number, _)) :+ (pathOf(number, MetadataCodec.Plain) + ".gz")
    names.iterator.map(readIfExists).collectFirst { case Some(version) => version }
  }

  /** Scans forward from a version, for a limited number of steps. */
  @tailrec
  private def scanForward(number: Int, found: Option[String], steps: Int): Option[String] =
    MetadataCodec.all.map(pathOf(number + 1, _)).find(io.exists) match {
      case None => found
      // The hint is too far behind. A listing is faster, and also finds versions after a gap of deleted files.
      case Some(_) if steps == 0 => newestListedPath()
      case newer => scanForward(number + 1, newer, steps - 1)
    }

  def newestListedPath(): Option[String] = {
    val versions = names().flatMap(name => numberIn(name).map(_ -> name))
    if (versions.isEmpty) None else Some(TableLocations.inside(directory, versions.max._2))
  }

  /** Whether a table may exist. The hint is written after the commit, so the directory may exist without it. */
  private def mayExist: Boolean = io.exists(hintFile) || io.exists(directory)

  /**
   * Finds the newest version by listings. With concurrent commits and deletes, a listed file may be missing when it is
   * read, and a listing may miss new files: list again.
   */
  @tailrec
  private def newestByListing(remaining: Int): Option[TableVersion] = {
    val found = newestListedPath()
    val version = found.flatMap(readIfExists)
    // Stop earlier for a table that may never have existed than for one that has just disappeared.
    val cost = if (found.isEmpty) VersionFiles.EmptyListingCost else 1
    if (version.isDefined || remaining < cost || found.isEmpty && !mayExist) version
    else newestByListing(remaining - cost)
  }
}

private[catalog] object VersionFiles {

  /** The pattern of temporary files in local and HDFS-like storages. */
  private val Temporary = """\.(.+)\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp""".r
  private val StaleMs = 24L * 60 * 60 * 1000

  /** The number of versions to try individually before the directory is listed. */
  private val MaxSteps = 16

  /** The maximum number of listings of a directory whose files change. */
  private val MaxListings = 50

  /** The maximum number of retries if a file exists but could not be read. */
  private val MaxRereads = 3

  /** The number of listings as which a listing without a version counts. */
  private val EmptyListingCost = 5
}
