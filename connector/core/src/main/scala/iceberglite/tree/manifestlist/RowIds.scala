package iceberglite.tree.manifestlist

import iceberglite.spec.file.{Content, ManifestEntry}

/** Assigns the files of a manifest their first row ids, in its order (adopted version 3: "Row lineage"). */
final private[iceberglite] class RowIds(first: Option[Long]) {
  private var next = first

  def in(e: ManifestEntry): ManifestEntry =
    if (e.file.content != Content.Data || !e.isLive || e.file.firstRowId.isDefined || !e.file.hasRecordCount) e
    else {
      val given = e.copy(file = e.file.copy(firstRowId = next))
      next = next.map(_ + e.file.recordCount)
      given
    }
}
