// Apollo Kotlin: pages by cursors, persisted queries, trusted documents, and subscriptions over HTTP and by a socket.

import com.apollographql.apollo.ApolloClient
import com.apollographql.apollo.api.Optional
import com.apollographql.apollo.api.http.HttpRequest
import com.apollographql.apollo.api.http.HttpResponse
import com.apollographql.apollo.exception.SubscriptionOperationException
import com.apollographql.apollo.network.http.HttpInterceptor
import com.apollographql.apollo.network.http.HttpInterceptorChain
import com.apollographql.apollo.network.http.HttpNetworkTransport
import com.apollographql.apollo.network.websocket.GraphQLWsProtocol
import com.apollographql.apollo.network.websocket.WebSocketNetworkTransport
import java.util.Collections
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import okio.Buffer
import shop.AddCommentMutation
import shop.CommentEventsSubscription
import shop.CommentsQuery
import shop.type.AddCommentInput
import shop.type.AuthorInput

val url = System.getenv("TALKBACK_URL")!!
val trustedUrl = System.getenv("TALKBACK_TRUSTED_URL")!!
val product = System.getenv("TALKBACK_PRODUCT")!!

/** The requests of a client: how, and whether with the text of the operation. */
val requests = Collections.synchronizedList(mutableListOf<String>())

val noted = object : HttpInterceptor {
  override suspend fun intercept(request: HttpRequest, chain: HttpInterceptorChain): HttpResponse {
    val body = Buffer().also { request.body?.writeTo(it) }.readUtf8()
    requests += "${request.method} ${if ("query Comments" in body) "text" else "id"}"
    return chain.proceed(request)
  }
}

suspend fun ApolloClient.add(title: String): String {
  val author = AuthorInput(id = "u", name = "Ada")
  val draft = AddCommentInput(
    productId = product, rating = 4, language = "en", title = Optional.present(title), text = "Written.", author = author,
  )
  val added = mutation(AddCommentMutation(draft)).execute().dataOrThrow().addComment!!
  check(added.userErrors.isEmpty()) { added.userErrors }
  return added.comment!!.id
}

/** The titles of all pages, newest first. */
suspend fun ApolloClient.titles(): List<String?> {
  val titles = mutableListOf<String?>()
  var after: String? = null
  do {
    val page = query(CommentsQuery(product, Optional.presentIfNotNull(after))).execute().dataOrThrow().product!!.comments!!
    titles += page.nodes.map { it.title }
    after = page.pageInfo.endCursor
  } while (page.pageInfo.hasNextPage)
  return titles
}

suspend fun pages() {
  val client = ApolloClient.Builder().serverUrl(url).build()
  val written = (1..7).map { "$it".also { title -> client.add(title) } }
  check(client.titles() == written.reversed())
}

suspend fun persisted() {
  val client = ApolloClient.Builder()
    .serverUrl(url)
    .autoPersistedQueries()
    .addHttpInterceptor(noted)
    .build()
  client.titles()
  check(requests == listOf("Get id", "Post text", "Get id", "Get id")) { requests }
}

suspend fun trusted() {
  val client = ApolloClient.Builder()
    .serverUrl(trustedUrl)
    .sendApqExtensions(true)
    .sendDocument(false)
    .build()
  check(client.titles().size == 7)
}

fun overHttp() = ApolloClient.Builder()
  .serverUrl(url)
  .subscriptionNetworkTransport(HttpNetworkTransport.Builder().serverUrl(url).build())
  .build()

fun overSocket() = ApolloClient.Builder()
  .serverUrl(url)
  .subscriptionNetworkTransport(
    WebSocketNetworkTransport.Builder()
      .serverUrl(url)
      .wsProtocol(GraphQLWsProtocol(connectionPayload = { null })) // mapOf("Authorization" to "Bearer …") with a token
      .build(),
  )
  .build()

suspend fun follows(client: ApolloClient) = runBlocking {
  val events = Collections.synchronizedList(mutableListOf<CommentEventsSubscription.CommentEvents>())
  val following = launch(Dispatchers.IO) {
    client.subscription(CommentEventsSubscription(product)).toFlow().collect { response ->
      events += response.dataOrThrow().commentEvents
    }
  }
  val added = mutableListOf<String>()
  while (events.isEmpty()) { // what is subscribed to over a socket begins some time after the message
    added += client.add("new")
    for (wait in 1..100) if (events.isEmpty()) delay(20)
  }
  check(events.first().kind.name == "ADDED" && events.first().commentId in added) { events }
  check(events.first().comment!!.title == "new") { events }
  following.cancelAndJoin()

  val refused = client.subscription(CommentEventsSubscription("author:1")).toFlow().first()
  val why = refused.errors ?: (refused.exception as SubscriptionOperationException).payload
  check("author:" in "$why") { "$why" }
}

fun main(): Unit = runBlocking {
  pages()
  persisted()
  trusted()
  follows(overHttp())
  follows(overSocket())
  kotlin.system.exitProcess(0)
}
