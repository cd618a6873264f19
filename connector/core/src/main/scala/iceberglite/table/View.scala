package iceberglite.table

import iceberglite.spec.update.{ViewRequirement, ViewUpdate}
import iceberglite.spec.view.ViewMetadata

/**
 * The metadata of a view and the location of its metadata file. The location is empty if the catalog server does not
 * return a location.
 */
final case class ViewState(metadata: ViewMetadata, metadataLocation: String)

/** The updates of a commit to a view, and the requirements that the view must meet at commit time. */
final case class ViewChange(updates: Vector[ViewUpdate], requirements: Vector[ViewRequirement])
