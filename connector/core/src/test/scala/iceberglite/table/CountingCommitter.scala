package iceberglite.table

/** Counts the requests to another catalog. */
final class CountingCommitter(catalog: Committer) extends Committer {
  var loads = 0
  var commits = 0

  def requests: Int = loads + commits

  override def load(id: TableIdentifier): TableVersion = {
    loads += 1
    catalog.load(id)
  }

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    commits += 1
    catalog.commit(id, base, change)
  }
}
