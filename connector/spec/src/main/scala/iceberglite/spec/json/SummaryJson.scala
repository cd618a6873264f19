package iceberglite.spec.json

import iceberglite.spec.metadata.Snapshot

/** The JSON form of a snapshot's summary without the key `operation`, for catalogs (spec: "Snapshots"). */
object SummaryJson {
  def toJson(snapshot: Snapshot): String = JsonFormat.text { out =>
    out.writeStartObject()
    val entries = (snapshot.summary - Snapshot.OperationKey).toVector.sortBy(_._1)
    entries.foreach { case (key, value) => out.writeStringField(key, value) }
    out.writeEndObject()
  }
}
