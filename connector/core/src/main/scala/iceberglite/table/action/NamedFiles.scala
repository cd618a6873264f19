package iceberglite.table.action

import iceberglite.spec.IcebergError.{ChangeScope, ConcurrentChange}
import iceberglite.spec.file.{Content, ContentFile, ManifestContent, ManifestEntry, PartSummary}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.CommitContext
import iceberglite.table.conflict.{BranchHistory, CommittedFileChange}
import iceberglite.tree.{BoundsFilter, FilePartitions, FileSelector}

/**
 * The path of a file and, for a deletion vector, its offset in the file. Both are needed to identify a file entry,
 * because a Puffin file may contain the deletion vectors of several data files.
 */
final private[iceberglite] case class ListedFileKey(path: String, offset: Option[Long])

private[iceberglite] object ListedFileKey {
  def of(file: ContentFile): ListedFileKey =
    ListedFileKey(file.path, file.contentOffset.filter(_ => file.isDeletionVector))
}

/** Selects the files that an action names, by path and offset. Manifests that cannot list these files are not read. */
final private[action] class NamedFiles(val files: Vector[ContentFile], base: TableMetadata) extends FileSelector {
  private val keys = files.map(ListedFileKey.of).toSet
  private val contents = files.map(f => NamedFiles.listedIn(f)).toSet
  private val partitions = new FilePartitions(files, base)
  private val dataBounds = new BoundsFilter(files.filter(_.content == Content.Data), base)

  override def mightMatch(part: PartSummary): Boolean =
    contents(part.content) && part.hasLiveFiles && partitions.mightMatch(part) &&
      (part.content != ManifestContent.Data || dataBounds.mightMatch(part))

  override def removes(entry: ManifestEntry): Boolean = keys(ListedFileKey.of(entry.file))

  /** Returns the entries of the named files that are live at the head. */
  def live(history: BranchHistory): Vector[ManifestEntry] =
    contents.toVector.flatMap(history.liveEntries(_, this)(removes))
}

private[action] object NamedFiles {
  def listedIn(file: ContentFile): ManifestContent =
    if (file.content == Content.Data) ManifestContent.Data else ManifestContent.Deletes

  /**
   * Returns the entries of files that must be live.
   *
   * @param verb the operation on the files, for messages, such as `rewrite`
   * @throws ConcurrentChange if a file is not live, because another commit removed it
   */
  def require(
      files: Vector[ContentFile],
      verb: String,
      base: TableMetadata,
      history: BranchHistory,
      context: CommitContext
  ): Vector[ManifestEntry] = {
    val found = new NamedFiles(files, base).live(history)
    val liveKeys = found.map(e => ListedFileKey.of(e.file)).toSet
    files.find(f => !liveKeys(ListedFileKey.of(f))).foreach(f => missing(f.path, verb, context))
    found
  }

  /**
   * Checks that data files that a statement has read are live.
   *
   * @param since the snapshot that the statement read; absent if the statement read none, or is not validated
   * @throws ConcurrentChange if a file is not live. If rewrites removed all files that are not live, the error has the
   *   scope `FilesOnly`
   */
  def requireRead(
      files: Vector[ContentFile],
      since: Option[Long],
      verb: String,
      base: TableMetadata,
      history: BranchHistory,
      context: CommitContext
  ): Unit = {
    val live = new NamedFiles(files, base).live(history).map(_.file.path).toSet
    val lost = files.map(_.path).filterNot(live)
    if (lost.nonEmpty) {
      val partitions = new FilePartitions(files, base)
      val removals = since.toVector.flatMap { id =>
        history.changes(
          history.concurrentCommits(Some(id)),
          p => p.content == ManifestContent.Data && partitions.mightMatch(p)
        )
      }.filter(c => c.isRemoved && c.isRewrite).map(c => c.entry.file.path -> c).toMap
      lost.find(!removals.contains(_)).foreach(missing(_, verb, context))
      rewritten(removals(lost.head), verb, context)
    }
  }

  /**
   * Checks that the data files to which new deletes apply are live. Reads all manifests of data files of their
   * partitions, because delete files do not contain the bounds of their data files; [[require]] reads fewer manifests.
   *
   * @param deletes delete files, each for a single data file
   * @throws ConcurrentChange if a data file is not live, because another commit removed it
   */
  def requireDataFiles(
      deletes: Vector[ContentFile],
      verb: String,
      base: TableMetadata,
      history: BranchHistory,
      context: CommitContext
  ): Unit = {
    val dataFiles = deletes.flatMap(_.referencedDataFile).toSet
    val partitions = new FilePartitions(deletes, base)
    val live = history.liveEntries(ManifestContent.Data, partitions)(e => dataFiles(e.file.path)).map(_.file.path).toSet
    (dataFiles -- live).toVector.sorted.headOption.foreach(missing(_, verb, context))
  }

  /** Rejects a commit because another commit removed a file. */
  def missing(path: String, verb: String, context: CommitContext): Nothing = throw ConcurrentChange(
    s"Cannot $verb the files of ${context.table}: $path is not in the table any more, because another commit " +
      "removed it. Run the statement again"
  )

  /**
   * Rejects a commit that only rewrites conflict with. The caller has validated the commit against all other concurrent
   * commits.
   *
   * @param removal the removal of a file that the commit reads or replaces, by a rewrite
   */
  def rewritten(removal: CommittedFileChange, verb: String, context: CommitContext): Nothing = throw ConcurrentChange(
    s"Cannot $verb the files of ${context.table}: ${removal.entry.file.path} is not in the table any more, because " +
      s"snapshot ${removal.snapshot.snapshotId} rewrote its rows to other files. Run the statement again",
    ChangeScope.FilesOnly
  )
}
