package iceberglite.maintenance.relocate

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import iceberglite.data.WrittenFile
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.{Content, ContentFile, ManifestContent, ManifestEntry, Metrics}
import iceberglite.spec.metadata.{Encryption, Snapshot, TableMetadata}
import iceberglite.spec.table.RelocatedMetadata
import iceberglite.storage.{FileIO, MetadataFiles}
import iceberglite.table.{Cleanup, Environment, Table, TableLocations, TableVersion}
import iceberglite.tree.{FilePart, ManifestCache, MetadataPool, MetadataTree, SeenParts, TreeCopy, TreeTable}

/**
 * Options of a path rewrite.
 *
 * @param startVersion the name of the newest metadata file that an earlier rewrite has covered; absent to rewrite all
 *   files
 * @param endVersion the name of the newest metadata file to rewrite; by default the current one
 * @param stagingLocation the directory of the rewritten files; it must be empty or missing. By default, it is a new
 *   directory in the table's metadata directory
 * @param createFileList whether to write the list of files to copy
 */
final case class PathRewriteOptions(
    prefixes: PathPrefixes,
    startVersion: Option[String] = None,
    endVersion: Option[String] = None,
    stagingLocation: Option[String] = None,
    createFileList: Boolean = true
)

/**
 * The result of a rewrite.
 *
 * @param latestVersion the name of the newest metadata file that was rewritten
 * @param fileList the path of the list of files to copy; absent if it was not requested
 * @param manifests number of rewritten manifests
 * @param deleteFiles number of rewritten position delete files and deletion vectors
 */
final case class PathRewriteResult(latestVersion: String, fileList: Option[String], manifests: Int, deleteFiles: Int)

/**
 * Writes copies of a table's metadata files for another location, and lists all files to copy. The copies contain the
 * paths that the files have in the other location. The table does not change. After the files have been copied, the
 * newest metadata file can be registered as a table.
 *
 * @param deletes writes copies of delete files that contain paths
 */
final class TablePathRewrite(
    table: Table,
    options: PathRewriteOptions,
    deletes: DeleteFileCopies,
    environment: Environment = Environment.system
) {
  import options.prefixes
  private def io: FileIO = table.io

  private lazy val staging = PathPrefixes.directory(options.stagingLocation.getOrElse(
    TableLocations.inside(folder(table.metadataLocation), s"copy-table-staging-${environment.uuid()}")
  ))

  private def folder(path: String): String = path.substring(0, path.lastIndexOf('/'))

  private def writePath(path: String): String = staging + prefixes.relative("file", path)

  /**
   * Writes the copies. On failure, the copies are deleted.
   *
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the table has no such version, the start version is not
   *   before the end version, or the staging location is not empty
   * @throws iceberglite.spec.IcebergError.ValidationFailed if a path does not begin with the source prefix, or a
   *   metadata file is missing
   */
  def run(): PathRewriteResult = {
    val versions = RewrittenVersions.of(table, options.startVersion, options.endVersion)
    Encryption.reject(
      versions.newest.metadata,
      "a copy with other paths of",
      "Copy the table with CREATE TABLE AS SELECT"
    )
    val relocated = versions.all.map(v => v -> RelocatedMetadata.of(v.metadata, prefixes(_, _)))
    versions.all.foreach(v => prefixes("metadata file", v.metadataLocation))
    requireEmpty()
    val written = new ConcurrentLinkedQueue[String]
    try new Run(versions, written).run(relocated)
    catch {
      case e: Throwable =>
        Cleanup.delete(io, written.asScala)
        throw e
    }
  }

  private def requireEmpty(): Unit = options.stagingLocation.foreach { location =>
    if (location.trim.isEmpty) throw InvalidArgument("argument staging_location", "''", "It must not be blank")
    if (io.list(location).nonEmpty) throw InvalidArgument(
      "argument staging_location",
      location,
      "The directory is not empty, and its files are not overwritten. Choose another directory"
    )
  }

  /** One rewrite. @param written receives the path of each file before the file is written */
  final private class Run(versions: RewrittenVersions, written: ConcurrentLinkedQueue[String]) {
    private val end = versions.newest.metadata
    private val tree = TreeTable(table.name, io, end)
    private val snapshots = end.snapshots.filterNot(s => versions.isInStart(s.snapshotId))
    private val copyList = new CopyList(prefixes, writePath)

    private def newFile(path: String): String = {
      val copy = writePath(path)
      written.add(copy)
      copy
    }

    def run(relocated: Vector[(TableVersion, TableMetadata)]): PathRewriteResult = {
      val parts = changedParts()
      val deleteFiles = positionDeletes(parts)
      val copiedDeletes = copyDeletes(deleteFiles)
      val copy = new Copy(copiedDeletes)
      // Several parts may have the same file, for example a leaf manifest from which several snapshots removed entries.
      val lengths = MetadataPool.map(parts.groupBy(_.path).toVector) { case (path, partsOfFile) =>
        copyList.addRewritten(path)
        // Files that are live only in another part must also be in the list of files to copy.
        partsOfFile.tail.foreach(_.entries(io).filter(_.isLive).foreach(copy.file))
        path -> partsOfFile.head.copyTo(tree, copy)
      }.toMap
      MetadataPool.map(snapshots) { snapshot =>
        snapshot.manifestList.foreach(copyList.addRewritten)
        filesOf(snapshot).copyRoot(copy, lengths)
      }
      MetadataPool.map(relocated) { case (version, metadata) => writeMetadata(version, metadata) }
      val fileList = if (options.createFileList) Some(staging + TablePathRewrite.FileList) else None
      fileList.foreach { path =>
        written.add(path)
        copyList.write(io, path)
      }
      PathRewriteResult(
        RewrittenVersions.nameOf(versions.newest.metadataLocation),
        fileList,
        lengths.size,
        deleteFiles.map(f => (f.path, f.contentOffset, f.contentSizeInBytes)).distinct.size
      )
    }

    private def filesOf(snapshot: Snapshot) = MetadataTree.at(snapshot, tree, ManifestCache.Disabled)

    /**
     * Returns the parts of metadata trees (manifests in format versions 1 to 3) that the new snapshots wrote, and
     * checks the paths of all parts. The trees are read in groups, because the lists of all trees may not fit in
     * memory.
     */
    private def changedParts(): Vector[FilePart] = {
      val seen = new SeenParts
      snapshots.grouped(MetadataPool.Width).flatMap { group =>
        MetadataPool.map(group) { snapshot =>
          val files = filesOf(snapshot)
          files.parts.foreach(part => prefixes("manifest", part.path))
          files.partsWrittenBy(versions.isNew)
        }.flatten.filter(part => seen.add(part.id))
      }.toVector
    }

    /**
     * Returns the live position deletes of the parts, and those that a snapshot removed from a part without writing its
     * file again, unless they are deleted. Earlier snapshots may still have them, and the copy of the part replaces the
     * copy of an earlier rewrite. A file with several deletion vectors has several entries.
     */
    private def positionDeletes(parts: Vector[FilePart]): Vector[ContentFile] =
      MetadataPool.map(parts.filter(_.content == ManifestContent.Deletes)) { part =>
        def deletesOf(of: FilePart) =
          of.entries(io).filter(e => e.isLive && e.file.content == Content.PositionDeletes)
            .map(_.file.copy(metrics = Metrics.Empty)).toVector
        val live = deletesOf(part)
        val paths = live.map(_.path).toSet
        live ++ (if (part.whole eq part) Vector.empty else deletesOf(part.whole).filterNot(f => paths(f.path)))
          .filter(f => io.exists(f.path))
      }.flatten

    private def copyDeletes(files: Vector[ContentFile]): Map[String, WrittenFile] = {
      val distinct = files.groupBy(_.path).values.map(_.head).toVector.sortBy(_.path)
      distinct.foreach(f => prefixes("delete file", f.path))
      val toCopy = distinct.map(f => DeleteFileToCopy(f, newFile(f.path)))
      if (toCopy.isEmpty) Map.empty
      else deletes.write(toCopy, DeleteFileCopier(io, prefixes, end.properties)).map(c => c.original -> c.copy).toMap
    }

    private def writeMetadata(version: TableVersion, relocated: TableMetadata): Unit = {
      val path = version.metadataLocation
      io.write(newFile(path), MetadataFiles.bytes(relocated, MetadataFiles.codecOf(path)))
      copyList.addRewritten(path)
      version.metadata.statistics.foreach(f => copyList.addUnchanged(f.statisticsPath))
      version.metadata.partitionStatistics.foreach(f => copyList.addUnchanged(f.statisticsPath))
    }

    /**
     * Determines how the copied entries differ from the original entries. Also adds the files of new snapshots to the
     * list of files to copy.
     */
    final private class Copy(copiedDeletes: Map[String, WrittenFile]) extends TreeCopy {
      override def referencePath(path: String): String = prefixes("manifest", path)

      override def writePath(path: String): String = newFile(path)

      override def file(entry: ManifestEntry): ContentFile = {
        val file = entry.file
        val path = prefixes(s"${file.content.name} file", file.path)
        val copied = copiedDeletes.get(file.path)
        if (entry.isLive && entry.snapshotId.exists(versions.isNew)) {
          if (copied.isDefined) copyList.addRewritten(file.path) else copyList.addUnchanged(file.path)
        }
        if (file.content != Content.PositionDeletes) file.copy(path = path)
        else file.copy(
          path = path,
          fileSizeInBytes = copied.fold(file.fileSizeInBytes)(_.fileSizeInBytes),
          // The bounds of an original file contain its original paths.
          metrics = copied.fold(Metrics.Empty)(_.metrics),
          splitOffsets = copied.fold(file.splitOffsets)(_.splitOffsets),
          referencedDataFile = file.referencedDataFile.map(prefixes("data file", _))
        )
      }
    }
  }
}

object TablePathRewrite {

  /** The name of the list of files in the staging location. */
  private val FileList = "file-list"
}
