package iceberglite.catalog

import scala.annotation.tailrec
import scala.util.Try

import iceberglite.io.{FileIO, MetadataCodec, MetadataFiles, ReadBounds}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.TableProperty
import iceberglite.table.{TableLocations, TableVersion}

/**
 * The metadata files of a file-system table, `metadata/v<V>.metadata.json`, and the hint which of them is the newest.
 */
final private[catalog] class VersionFiles(io: FileIO, location: String) {
  val directory: String = TableLocations.inside(location, "metadata")
  private val hintFile = TableLocations.inside(directory, "version-hint.text")

  /** Whether anything of a table is here, whatever the names of its metadata files. */
  def isThere: Boolean = io.exists(hintFile) || names().nonEmpty

  /** The names of all metadata files, those too that a catalog with pointers has written. */
  def names(): Vector[String] = io.list(directory).map(f => f.path.substring(f.path.lastIndexOf('/') + 1))
    .filter(name => name.endsWith(".metadata.json") || name.endsWith(".metadata.json.gz"))

  /** The newest version: from the hint on forward, and by listing where the hint leads nowhere. */
  def newest(): Option[TableVersion] = fromHint().filter(isNewest).orElse(listed())

  private def fromHint(): Option[TableVersion] = hint().flatMap(n => read(n).map(n -> _)).flatMap {
    case (number, hinted) => forward(number, None, VersionFiles.MaxSteps).fold(Option(hinted))(readIfThere)
  }

  /**
   * Where versions are deleted, a gap may end the way forward before the newest. There is none if the next one has come
   * since.
   */
  private def isNewest(version: TableVersion): Boolean =
    !TableProperty.of(TableProperty.DeleteAfterCommit, version.metadata.properties) || {
      val found = numberIn(version.metadataLocation)
      val there = names().flatMap(numberIn)
      there.forall(n => found.exists(n <= _)) || found.exists(n => there.contains(n + 1))
    }

  /** The newest version, whatever the hint says. */
  def listed(): Option[TableVersion] = listed(VersionFiles.Listings)

  def pathOf(number: Int, codec: MetadataCodec): String =
    TableLocations.inside(directory, MetadataFiles.fileName(number, codec))

  /** The version in a file's name; names with a UUID are of catalogs that keep a pointer. */
  def numberIn(path: String): Option[Int] =
    if (path.substring(path.lastIndexOf('/') + 1).startsWith("v")) MetadataFiles.version(path) else None

  /** What the hint says: a number or, from other engines, a metadata file's name with or without its ending. */
  def hint(): Option[Int] = {
    val text =
      try Some(new String(io.read(hintFile, ReadBounds.Hint), "UTF-8").trim)
      catch { case _: UnreadableFile => None }
    text.flatMap(t => Try(t.stripPrefix("v").toInt).toOption.orElse(MetadataFiles.version(t)).filter(_ > 0))
  }

  /** Without keeping the commit waiting: a hint that is late is followed all the same. */
  def writeHint(number: Int): Unit = io.replaceSoon(hintFile, number.toString.getBytes("UTF-8"))

  /**
   * Removes the temporary files of writers that were killed: those a day older than a file that was just written, by the
   * storage's own clock. A writer that is still at work on one fails definitely, and its commit is tried again.
   */
  def removeStale(written: String): Unit = {
    val there = io.list(directory)
    val name = written.substring(written.lastIndexOf('/') + 1)
    there.find(file => file.path.endsWith(s"/$name")).foreach { newest =>
      there.filter(file => isTemporary(file.path) && newest.modifiedMs - file.modifiedMs > VersionFiles.StaleMs)
        .foreach(file =>
          io.delete(TableLocations.inside(directory, file.path.substring(file.path.lastIndexOf('/') + 1)))
        )
    }
  }

  private def isTemporary(path: String): Boolean = path.substring(path.lastIndexOf('/') + 1) match {
    case VersionFiles.Temporary(name) => name == "version-hint.text" || MetadataFiles.isVersionName(name)
    case _ => false
  }

  def readIfThere(path: String): Option[TableVersion] = ifThere(path)(TableVersion(MetadataFiles.read(io, path), path))

  /** What is read from a file; `None` only where the file is not there. */
  def ifThere[A](path: String)(read: => A): Option[A] =
    try Some(read)
    catch { case _: UnreadableFile if !io.exists(path) => None }

  /** By the names that new files have; the last is that of the first releases of Apache Iceberg. */
  private def read(number: Int): Option[TableVersion] = {
    val names = MetadataCodec.all.map(pathOf(number, _)) :+ (pathOf(number, MetadataCodec.Plain) + ".gz")
    names.iterator.map(readIfThere).collectFirst { case Some(version) => version }
  }

  /** The newest file after a version; a long way is not walked. */
  @tailrec
  private def forward(number: Int, found: Option[String], steps: Int): Option[String] =
    MetadataCodec.all.map(pathOf(number + 1, _)).find(io.exists) match {
      case None => found
      // Far behind: a listing is quicker, and sees over a gap that deleted files have left.
      case Some(_) if steps == 0 => newestListed()
      case newer => forward(number + 1, newer, steps - 1)
    }

  def newestListed(): Option[String] = {
    val versions = names().flatMap(name => numberIn(name).map(_ -> name))
    if (versions.isEmpty) None else Some(TableLocations.inside(directory, versions.max._2))
  }

  /** The hint follows its commit, so that the directory may be the first to tell. */
  private def isBegun: Boolean = io.exists(hintFile) || io.exists(directory)

  /**
   * What was listed may be gone when it is read, where others commit and delete, and a listing may miss what comes
   * while it runs: another look helps.
   */
  @tailrec
  private def listed(looks: Int): Option[TableVersion] = {
    val found = newestListed()
    val version = found.flatMap(readIfThere)
    // Fewer looks for what may never have been there than for what has just gone.
    val cost = if (found.isEmpty) VersionFiles.EmptyListing else 1
    if (version.isDefined || looks < cost || found.isEmpty && !isBegun) version else listed(looks - cost)
  }
}

private[catalog] object VersionFiles {

  /** As local and HDFS-like storages name a file that is not complete yet. */
  private val Temporary = """\.(.+)\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp""".r
  private val StaleMs = 24L * 60 * 60 * 1000

  /** How many versions are tried one by one before the directory is listed. */
  private val MaxSteps = 16

  /** How often a directory is listed again whose files come and go. */
  private val Listings = 50

  /** For how many of them a listing counts that shows no version. */
  private val EmptyListing = 5
}
