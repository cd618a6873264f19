package iceberglite.tree.manifestlist

import java.util.concurrent.atomic.AtomicInteger

import iceberglite.avro.AvroCodec
import iceberglite.encryption.FileKey
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{Content, ContentFile, ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.file.EntryStatus.{Added, Deleted, Existing}
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.property.TableProperty
import iceberglite.storage.FileIO
import iceberglite.tree.{
  CloseableIterator,
  EntrySizeEstimates,
  FileChanges,
  FileSelector,
  ListKey,
  ManifestCache,
  ParallelWriter,
  RemovedDataFiles,
  SharedTuples,
  NewSnapshotHeader,
  TreePointer,
  TreeTable
}

/** Writes the metadata tree of a snapshot in one commit attempt; see [[ManifestListTree]]. */
final private[manifestlist] class ManifestListWriter(
    header: NewSnapshotHeader,
    table: TreeTable,
    parent: Option[ManifestListFiles],
    changes: FileChanges,
    earlier: Option[WrittenManifestList],
    cache: ManifestCache
) {

  /**
   * A manifest of the parent snapshot after the removal of files. The manifest is either unchanged (`kept`), or written
   * again with deleted entries for the removed files (`rewritten`), or dropped because it had no live files.
   *
   * @param removed the entries of the removed files, as in the parent snapshot
   */
  private case class FilteredManifest(
      kept: Option[ManifestPart],
      rewritten: Option[WrittenManifest],
      removed: Vector[ManifestEntry]
  )

  private def io: FileIO = table.io
  private def properties: Map[String, String] = table.metadata.properties
  private val version = table.metadata.formatVersion
  private val codec = AvroCodec.of(properties)
  private val manifestNumber = new AtomicInteger

  private val files = new ParallelWriter(io, header.metadataPath, table.pool)

  /** Writes the tree. On failure, the files that were already written are deleted. */
  def run(): WrittenManifestList = files.complete(writeAll())

  private def writeAll(): WrittenManifestList = {
    val addedFiles = newFiles
    val parents = parent.fold(Vector.empty[ManifestPart])(_.manifestParts)
    val (data, deletes) = parents.partition(_.content == ManifestContent.Data)
    val filteredData = filterAll(data, RemovedDataFiles.Empty)
    val filtered = filteredData ++ filterAll(deletes, removedDataFiles(filteredData))
    val newManifests = table.pool.map(groupFiles(addedFiles))(newManifest)
    val unchanged = filtered.flatMap(_.kept)
    val replaced = changes.rewrite.flatMap(rewriter.rewriteChosen(unchanged, _, earlier.flatMap(_.reusable.replaced)))
    val written = newManifests.map(_._2) ++ filtered.flatMap(_.rewritten) ++ replaced.toVector.flatMap(_.written)
    val merged = mergeAll(bins(unchanged.filter(m => replaced.forall(_.isKept(m))), written.map(_.manifest)))
    val all = written.map(_.manifest) ++ merged.map(_.fold(_.manifest, _.manifest))
    val (listed, key) = writeList(all, newManifests.map(_._1.manifest), written ++ merged.flatMap(_.toSeq))
    val carriedOver = merged.count(_.isLeft)
    WrittenManifestList(
      TreePointer(listPath, key),
      addedRows =
        header.firstRowId.map(_ => all.zip(listed).filter(m => needsRowIds(m._1)).map(m => rowCount(m._2)).sum),
      added = changes.allAdded,
      removed = filtered.flatMap(_.removed),
      manifests = listed,
      reusable = ReusableManifests(newManifests.map(_._1), replaced.map(_.replacement)),
      written = files.paths,
      turnover =
        ManifestTurnover(all.size - carriedOver, carriedOver, parents.count(_.hasLiveFiles) - carriedOver)
    )
  }

  private lazy val rewriter = new ManifestRewriter(table, entries, write)

  private def entries(part: ManifestPart): CloseableIterator[ManifestEntry] =
    parent.fold(part.entries(io))(_.entries(part))

  private def bins(kept: Vector[ManifestPart], written: Vector[ManifestFile]): Vector[ManifestMerging.Bin] =
    if (changes.mergesManifests) ManifestMerging.bins(kept, written, properties) else kept.map(Vector(_))

  private def listPath = s"${header.metadataPath}/snap-${header.snapshotId}-${header.attempt}-${header.commitId}.avro"

  /**
   * Writes the manifest list.
   *
   * @return the manifests with the values that the list assigns to them, and the key of the list
   */
  private def writeList(
      manifests: Vector[ManifestFile],
      newManifests: Vector[ManifestFile],
      created: Vector[WrittenManifest]
  ): (Vector[ManifestFile], Option[FileKey]) = {
    val key = table.newKey()
    if (header.firstRowId.isDefined)
      checkRows(manifests.filter(m => needsRowIds(m) && !newManifests.contains(m)), created)
    val complete = if (version == FormatVersion.V1) manifests else manifests.map(withCounts)
    val (length, listed) = ManifestLists.write(
      files,
      listPath,
      ManifestListHeader(
        version,
        header.snapshotId,
        header.parent.map(_.snapshotId),
        header.sequenceNumber,
        header.firstRowId
      ),
      complete,
      codec,
      key
    )
    cache.putManifests(ListKey(io, listPath), listed)
    cacheRows(created, listed)
    (listed, key.map(_.withLength(length)))
  }

  /**
   * Returns the manifest with all counts. Manifest lists require the counts in version 2 and later, but the manifest
   * lists of version 1 may omit them.
   */
  private def withCounts(m: ManifestFile): ManifestFile =
    if (ManifestCounts.hasCounts(m)) m else ManifestCounts.withCounts(m, entries(partOf(m)))

  /**
   * Returns whether the manifest gets its first row id when the manifest list is written (spec version 3: "Row
   * lineage").
   */
  private def needsRowIds(m: ManifestFile): Boolean = m.content == ManifestContent.Data && m.firstRowId.isEmpty

  /**
   * Checks that all row counts are known, because row ids are assigned according to them. The check reads each manifest
   * that was written before the upgrade to version 3 only once, in the commit that assigns its row ids.
   */
  private def checkRows(manifests: Vector[ManifestFile], created: Vector[WrittenManifest]): Unit = {
    val rows = created.filter(_.rows.nonEmpty).map(w => w.manifest.path -> w.rows).toMap
    table.pool.map(manifests) { m =>
      rows.get(m.path).fold(entries(partOf(m)))(all => CloseableIterator.of(all.iterator))
        .filter(e => e.isLive && e.file.firstRowId.isEmpty)
        .foreach(e => AddedFileCheck.checkExisting(e.file))
    }
  }

  private def rowCount(m: ManifestFile): Long = m.addedRowsCount.getOrElse(0L) + m.existingRowsCount.getOrElse(0L)

  /**
   * Returns the removed data files and the lowest data sequence number of the remaining data files. A delete file that
   * is older than all remaining data files applies to none of them (spec: "Scan Planning").
   */
  private def removedDataFiles(data: Vector[FilteredManifest]): RemovedDataFiles = {
    val rewritten = data.flatMap(_.rewritten.map(_.manifest)).filter(_.hasLiveFiles)
    val numbers =
      data.flatMap(_.kept).map(_.minSequenceNumber) ++ rewritten.map(_.minSequenceNumber) ++ changes.addedOlder.map(
        _.sequenceNumber
      )
    val oldest = (numbers :+ header.sequenceNumber).min
    new RemovedDataFiles(data.flatMap(_.removed).map(_.file.path).toSet, oldest)
  }

  /**
   * Applies [[filter]] to the manifests. This is done in parallel only if the commit removes files, because otherwise
   * no manifests are read.
   */
  private def filterAll(manifests: Vector[ManifestPart], removedFiles: RemovedDataFiles): Vector[FilteredManifest] =
    if (removedFiles.isEmpty && (changes.remove eq FileSelector.NoFiles)) manifests.map(filter(_, removedFiles))
    else table.pool.map(manifests)(filter(_, removedFiles))

  /**
   * Returns a manifest in which the files that the commit removes are not live. If the manifest must be rewritten for
   * this purpose, the new manifest has deleted entries for these files, and omits the entries of files that earlier
   * snapshots removed.
   *
   * @param removedFiles the removed data files, which determine the delete files to remove with them
   */
  private def filter(manifest: ManifestPart, removedFiles: RemovedDataFiles): FilteredManifest = {
    val selected = changes.remove.mightMatch(manifest)
    if (!manifest.hasLiveFiles) FilteredManifest(None, None, Vector.empty)
    else if (!selected && removedFiles.isEmpty) FilteredManifest(Some(manifest), None, Vector.empty)
    else {
      val live = entries(manifest).filter(_.isLive).toVector
      val rows = live.map { e =>
        if (selected && changes.remove.removes(e) || removedFiles.makesObsolete(e)) asDeleted(e) else asExisting(e)
      }
      val removed = live.zip(rows).collect { case (e, row) if row.status == Deleted => e }
      if (removed.isEmpty) FilteredManifest(Some(manifest), None, removed)
      else FilteredManifest(None, Some(write(manifest.content, manifest.spec, rows)), removed)
    }
  }

  private def asExisting(e: ManifestEntry): ManifestEntry = e.copy(status = Existing)

  /**
   * Returns the entry with the status `deleted` and the id of the new snapshot. The sequence numbers do not change
   * (spec: "Manifest Entry Fields").
   */
  private def asDeleted(e: ManifestEntry): ManifestEntry =
    e.copy(status = Deleted, snapshotId = Some(header.snapshotId))

  private def mergeAll(bins: Vector[ManifestMerging.Bin]): Vector[Either[ManifestPart, WrittenManifest]] =
    if (bins.forall(_.size == 1)) bins.map(merge) else table.pool.map(bins)(merge)

  private def merge(bin: ManifestMerging.Bin): Either[ManifestPart, WrittenManifest] =
    if (bin.size == 1) Left(bin.head)
    else {
      val rows = bin.flatMap(m => entries(m).filter(_.isLive).map(asExisting))
      Right(write(bin.head.content, bin.head.spec, rows))
    }

  /**
   * Returns the added files. The manifests of these files stay valid in a retry, because their entries inherit the
   * values that a commit assigns.
   */
  private def newFiles: Vector[AddedFile] = {
    val older = changes.addedOlder.map(o => AddedFile(o.file, Some(o.sequenceNumber)))
    val files = changes.added.map(AddedFile(_, None)) ++ older
    files.foreach(f => AddedFileCheck.check(entryOf(f), header, table))
    files
  }

  private def entryOf(f: AddedFile): ManifestEntry =
    ManifestEntry(Added, Some(header.snapshotId), f.sequenceNumber, None, f.file.copy(firstRowId = None))

  /**
   * Groups the added files by manifest. The files of a manifest have the same partition spec and content, and the
   * manifest has at most about the target size.
   */
  private def groupFiles(files: Vector[AddedFile]): Vector[Vector[AddedFile]] = {
    val target = TableProperty.of(TableProperty.ManifestTargetSize, properties)
    val keys = files.map(f => specAndContent(f.file)).distinct
    val byKey = files.groupBy(f => specAndContent(f.file))
    keys.flatMap(k => ManifestListWriter.runs(byKey(k), target)(_.file))
  }

  private def specAndContent(file: ContentFile): (Int, ManifestContent) =
    (file.specId, if (file.content == Content.Data) ManifestContent.Data else ManifestContent.Deletes)

  /** Returns a manifest that lists the files. An earlier attempt may have written it. */
  private def newManifest(files: Vector[AddedFile]): (NewManifest, WrittenManifest) =
    earlier.flatMap(_.reusable.ofAddedFiles.find(_.matches(files, version))) match {
      case Some(same) => (same, WrittenManifest(same.manifest, Vector.empty))
      case None =>
        val (specId, content) = specAndContent(files.head.file)
        val written = write(content, table.specs.byId(specId), files.map(entryOf))
        (NewManifest(written.manifest, version, files), written)
    }

  private def write(content: ManifestContent, spec: PartitionSpec, rows: Vector[ManifestEntry]): WrittenManifest = {
    val name = s"${header.commitId}-${header.attempt}-m${manifestNumber.getAndIncrement()}.avro"
    val path = s"${header.metadataPath}/$name"
    val manifest = Manifests.write(
      files,
      path,
      ManifestHeader(version, content, table.schema, spec, header.snapshotId),
      rows.iterator,
      codec,
      table.newKey()
    )
    WrittenManifest(manifest, rows)
  }

  private def partOf(manifest: ManifestFile): ManifestPart = new ManifestPart(manifest, table.specs)

  private def cacheRows(created: Vector[WrittenManifest], listed: Vector[ManifestFile]): Unit = {
    val byPath = listed.map(m => m.path -> m).toMap
    created.filter(_.rows.nonEmpty).foreach { w =>
      val manifest = byPath(w.manifest.path)
      cache.putEntries(partOf(manifest).cacheKey(io), withInheritedValues(w.rows, manifest))
    }
  }

  /** Returns the entries with inherited values, as a reader of the written manifest would return them. */
  private def withInheritedValues(rows: Vector[ManifestEntry], listed: ManifestFile): Array[ManifestEntry] = {
    val number = Some(listed.sequenceNumber)
    val shared = new SharedTuples
    val rowIds = new RowIdAssigner(listed.firstRowId)
    rows.iterator.map { e =>
      val numbered =
        if (e.status == Added) e.copy(sequenceNumber = e.sequenceNumber.orElse(number), fileSequenceNumber = number)
        else e
      shared.share(rowIds.assign(numbered))
    }.toArray
  }
}

private[manifestlist] object ManifestListWriter {

  /** Splits entries into runs, each for one manifest of at most about the target size. */
  def runs[A](entries: Vector[A], target: Long)(file: A => ContentFile): Vector[Vector[A]] =
    splitBySize(entries, target)(entry => EntrySizeEstimates.encodedBytes(file(entry)))

  /** Splits items into runs of at most the target size. A run is larger only if it consists of a single item. */
  def splitBySize[A](items: Vector[A], target: Long)(sizeOf: A => Long): Vector[Vector[A]] = {
    val runs = Vector.newBuilder[Vector[A]]
    var run = Vector.newBuilder[A]
    var size = 0L
    items.foreach { item =>
      val itemSize = sizeOf(item)
      if (size > 0 && size + itemSize > target) {
        runs += run.result()
        run = Vector.newBuilder[A]
        size = 0
      }
      run += item
      size += itemSize
    }
    if (size > 0) runs += run.result()
    runs.result()
  }
}
