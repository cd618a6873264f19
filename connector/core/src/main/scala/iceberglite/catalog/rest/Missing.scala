package iceberglite.catalog.rest

import iceberglite.spec.IcebergError

/**
 * Questions whose answer may be that there is no such thing. That something on the way knows no such page is an error:
 * a table must not seem to be dropped because of a proxy.
 */
private[catalog] object Missing {

  /** @return absent where the catalog says that there is none */
  def find(server: RestServer, ask: Ask): Option[Answer] = findOr(server, ask)(PartialFunction.empty)

  /** @param refused what some refusals mean, that of 404 with another meaning among them */
  def findOr(server: RestServer, ask: Ask)(refused: PartialFunction[Refusal, IcebergError]): Option[Answer] =
    server.client.exchange(server.prepared(ask)) match {
      case Outcome.Done(answer) => Some(answer)
      case Outcome.Refused(answer, inDoubt) =>
        val refusal = server.client.refusalOf(answer, inDoubt)
        if (refused.isDefinedAt(refusal)) throw refused(refusal)
        else if (isMissing(refusal, ask)) None
        else throw server.client.error(ask.what, refusal)
      case Outcome.Unsent(reason) => throw server.client.failed(ask.what, reason)
      case Outcome.Unknown(reason) => throw server.client.failed(ask.what, reason)
    }

  /** An answer to HEAD has no body that could tell. */
  private def isMissing(refusal: Refusal, ask: Ask): Boolean =
    refusal.status == 404 && (refusal.isOfCatalog || ask.endpoint.method == "HEAD")
}
