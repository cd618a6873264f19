package iceberglite.table

import iceberglite.spec.update.{ViewRequirement, ViewUpdate}
import iceberglite.spec.view.ViewMetadata

/** A view's metadata and its metadata file's location; the location is empty if only the server knows the file. */
final case class ViewState(metadata: ViewMetadata, metadataLocation: String)

/** The updates of a commit to a view, and the requirements that must still hold. */
final case class ViewChange(updates: Vector[ViewUpdate], requirements: Vector[ViewRequirement])
