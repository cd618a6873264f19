package iceberglite.tree.manifestlist

import iceberglite.spec.file.{Content, ManifestEntry}

/** Assigns first row ids to the files of a manifest, in the order of its entries (spec version 3: "Row lineage"). */
final private[iceberglite] class RowIdAssigner(first: Option[Long]) {
  private var next = first

  def assign(e: ManifestEntry): ManifestEntry =
    if (e.file.content != Content.Data || !e.isLive || e.file.firstRowId.isDefined || !e.file.hasRecordCount) e
    else {
      val numbered = e.copy(file = e.file.copy(firstRowId = next))
      next = next.map(_ + e.file.recordCount)
      numbered
    }
}
