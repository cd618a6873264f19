package iceberglite.catalog

import scala.annotation.tailrec
import scala.util.Try

import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.property.{MetadataCompression, TableProperty}
import iceberglite.storage.{FileIO, MetadataFiles, ReadBounds}
import iceberglite.table.{TableLocations, TableVersion}

/** The metadata files of a file-system table, `metadata/v<V>.metadata.json`, and the version hint. */
final private[catalog] class VersionFiles(io: FileIO, location: String) {
  val directory: String = TableLocations.inside(location, "metadata")
  private val hintFile = TableLocations.inside(directory, MetadataFiles.VersionHint)

  /**
   * Whether the table exists: the metadata directory contains a version hint or a metadata file. Metadata files that a
   * catalog of another type wrote also count.
   */
  def exists: Boolean = io.exists(hintFile) || names().nonEmpty

  /** Returns the names of all metadata files, including the files that a catalog of another type wrote. */
  def names(): Vector[String] = io.list(directory).map(f => f.path.substring(f.path.lastIndexOf('/') + 1))
    .filter(name => name.endsWith(".metadata.json") || name.endsWith(".metadata.json.gz"))

  /**
   * Returns the newest version. Scans forward from the version hint. Lists the directory if the hint is not usable, or
   * if the version that the scan finds may not be the newest.
   */
  def newest(): Option[TableVersion] = fromHint().filter(isNewest).orElse(newestByListing())

  private def fromHint(): Option[TableVersion] = hint().flatMap(n => read(n).map(n -> _)).flatMap {
    case (number, hinted) => scanForward(number, None, VersionFiles.MaxSteps).fold(Option(hinted))(readIfExists)
  }

  /**
   * Whether a version is the newest. If commits delete old metadata files
   * (`write.metadata.delete-after-commit.enabled`), a forward scan can stop at a gap in the version numbers. Therefore
   * a listing must confirm the result. If the listing contains the next version, there is no gap: the next version was
   * committed after the scan, and the scanned version was the newest.
   */
  private def isNewest(version: TableVersion): Boolean =
    !TableProperty.of(TableProperty.DeleteAfterCommit, version.metadata.properties) || {
      val number = numberIn(version.metadataLocation)
      val listed = names().flatMap(numberIn)
      listed.forall(n => number.exists(n <= _)) || number.exists(n => listed.contains(n + 1))
    }

  /** Lists the metadata directory and returns the newest version, without reading the hint. */
  def newestByListing(): Option[TableVersion] = newestByListing(VersionFiles.MaxListings)

  def pathOf(number: Int, codec: MetadataCompression): String =
    TableLocations.inside(directory, MetadataFiles.fileName(number, codec))

  /** Returns whether there is a file of a version. */
  def hasVersion(number: Int): Boolean = MetadataCompression.all.exists(codec => io.exists(pathOf(number, codec)))

  /**
   * Returns the version number in a file name; absent for names with a UUID, because these files belong to a catalog of
   * another type.
   */
  def numberIn(path: String): Option[Int] =
    if (path.substring(path.lastIndexOf('/') + 1).startsWith("v")) MetadataFiles.version(path) else None

  /**
   * Returns the version number in the hint. This connector stores only the number. Other writers may store the name of
   * a metadata file, with or without its extension.
   */
  def hint(): Option[Int] = {
    val text =
      try Some(new String(io.read(hintFile, ReadBounds.Hint), "UTF-8").trim)
      catch { case _: UnreadableFile => None }
    text.flatMap(t => Try(t.stripPrefix("v").toInt).toOption.orElse(MetadataFiles.version(t)).filter(_ > 0))
  }

  /** Writes the hint asynchronously. The commit need not wait, because readers also accept an outdated hint. */
  def writeHint(number: Int): Unit = io.replaceAsync(hintFile, number.toString.getBytes("UTF-8"))

  /**
   * Removes the temporary files of killed writers. A temporary file is removed if its modification time in the storage
   * is more than a day before that of `newFile`. If the writer of a removed file is still active, its commit fails
   * without effect and is retried.
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
    case VersionFiles.Temporary(name) => name == MetadataFiles.VersionHint || MetadataFiles.isVersionName(name)
    case _ => false
  }

  def readIfExists(path: String): Option[TableVersion] =
    VersionFiles.ifExists(io, path)(TableVersion(MetadataFiles.read(io, path), path))

  /**
   * Reads a version. The name of its file depends on the compression codec. Early releases of Apache Iceberg append
   * `.gz` to the name of a compressed file, as in `v1.metadata.json.gz`. This name is tried last.
   */
  private def read(number: Int): Option[TableVersion] = {
    val names =
      MetadataCompression.all.map(pathOf(number, _)) :+ (pathOf(number, MetadataCompression.Uncompressed) + ".gz")
    names.iterator.map(readIfExists).collectFirst { case Some(version) => version }
  }

  /**
   * Scans forward from a version. Returns the path of the last version before the first missing number; if the next
   * number is already missing, returns `found`. After a limited number of steps, the directory is listed instead.
   *
   * @param number the number of the version to start from
   * @param found the path of the version with this number; absent at the start of the scan
   */
  @tailrec
  private def scanForward(number: Int, found: Option[String], steps: Int): Option[String] =
    MetadataCompression.all.map(pathOf(number + 1, _)).find(io.exists) match {
      case None => found
      // The hint is far behind the newest version. A listing is faster, and also finds versions after a gap of deleted
      // files.
      case Some(_) if steps == 0 => newestListedPath()
      case newer => scanForward(number + 1, newer, steps - 1)
    }

  def newestListedPath(): Option[String] = {
    val versions = names().flatMap(name => numberIn(name).map(_ -> name))
    if (versions.isEmpty) None else Some(TableLocations.inside(directory, versions.max._2))
  }

  /**
   * Whether a table may exist. A new table can have a metadata directory but no hint yet, because a commit writes the
   * hint last.
   */
  private def mayExist: Boolean = io.exists(hintFile) || io.exists(directory)

  /**
   * Lists the directory to find the newest version. The directory is listed again if no version could be read. During
   * concurrent commits and deletes, a listed file may be missing when it is read, and a listing may miss new files.
   *
   * @param remaining the total cost of the listings that are still allowed; see [[VersionFiles.EmptyListingCost]]
   */
  @tailrec
  private def newestByListing(remaining: Int): Option[TableVersion] = {
    val found = newestListedPath()
    val version = found.flatMap(readIfExists)
    // Empty listings have a higher cost, so that the search for a table that probably never existed ends earlier.
    val cost = if (found.isEmpty) VersionFiles.EmptyListingCost else 1
    if (version.isDefined || remaining < cost || found.isEmpty && !mayExist) version
    else newestByListing(remaining - cost)
  }
}

private[catalog] object VersionFiles {

  /** The pattern of the names of temporary files in local and HDFS-like storages. */
  private val Temporary = """\.(.+)\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp""".r
  private val StaleMs = 24L * 60 * 60 * 1000

  /** The number of versions to try individually before the directory is listed. */
  private val MaxSteps = 16

  /** The maximum total cost of the listings of a directory whose files change; see [[EmptyListingCost]]. */
  private val MaxListings = 50

  /** The maximum number of retries if a file exists but could not be read. */
  private val MaxRereads = 3

  /** The cost of a listing that contains no version. A listing that contains a version has the cost 1. */
  private val EmptyListingCost = 5

  /**
   * Returns the content of a file; `None` only if the file does not exist. If the read fails but the file exists
   * afterwards, the read is retried. Such a failure can occur if commits delete old metadata files, because a delayed
   * writer can briefly create a deleted file again.
   */
  def ifExists[A](io: FileIO, path: String)(read: => A): Option[A] = {
    @tailrec def attempt(retries: Int): Option[A] = {
      val found =
        try Some(Some(read))
        catch { case e: UnreadableFile => if (!io.exists(path)) Some(None) else if (retries == 0) throw e else None }
      found match {
        case Some(result) => result
        case None => attempt(retries - 1)
      }
    }
    attempt(MaxRereads)
  }
}
