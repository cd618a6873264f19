package iceberglite.spec.json

import iceberglite.spec.metadata.Snapshot

/** A snapshot's summary without the operation, as catalogs show it (spec: "Snapshots"). */
object SummaryJson {
  def toJson(snapshot: Snapshot): String = JsonFormat.text { out =>
    out.writeStartObject()
    val shown = (snapshot.summary - Snapshot.OperationKey).toVector.sortBy(_._1)
    shown.foreach { case (key, value) => out.writeStringField(key, value) }
    out.writeEndObject()
  }
}
