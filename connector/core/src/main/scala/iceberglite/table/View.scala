package iceberglite.table

import iceberglite.spec.{ViewMetadata, ViewRequirement, ViewUpdate}

/** A view's metadata and the file it stands in; empty where only a server knows the file. */
final case class ViewState(metadata: ViewMetadata, metadataLocation: String)

/** What a commit does to a view, if what it requires still holds. */
final case class ViewChange(updates: Vector[ViewUpdate], requirements: Vector[ViewRequirement])
